package sluice.codegen.layout;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// `docs/region.md` and its like: the constitution of a shared file.
public final class LayoutPage {
    private LayoutPage() {}

    public static String emit(LayoutSpec spec) {
        return """
                # The %s

                The memory-mapped file %s.
                Generated from `spec/%s`; to change it, change that and run `mvn -q -pl codegen compile exec:exec@docs`.

                Layout %d, %s, little-endian. A reader that finds another layout refuses and names both versions.

                ## Rules
                %s

                ## Orders
                | order | meaning |
                |---|---|
                %s

                ## The file
                ```
                %s
                ```
                %s%s""".formatted(
                        spec.file().word(),
                        spec.file().purpose(),
                        spec.file().fileName(),
                        spec.layout(),
                        spec.places().stream().anyMatch(LayoutSpec.Place::isOpen)
                                ? spec.fileBytes() + " bytes and the events" : spec.fileBytes() + " bytes",
                        IntStream.range(0, spec.rules().size())
                                .mapToObj(i -> i + 1 + ". " + spec.rules().get(i))
                                .collect(Collectors.joining("\n")),
                        Arrays.stream(Order.values())
                                .map(order -> "| %s | %s |".formatted(order.word(), order.meaning()))
                                .collect(Collectors.joining("\n")),
                        LayoutDiagram.emit(spec),
                        values(spec),
                        spec.places().stream().map(LayoutPage::record).collect(Collectors.joining()));
    }

    private static String values(LayoutSpec spec) {
        if (spec.values().isEmpty()) {
            return "";
        }
        return """

                ## Values
                | name | value | meaning |
                |---|---|---|
                %s
                """.formatted(spec.values().stream()
                        .map(value -> "| `%s` | %d | %s |".formatted(value.name(), value.number(), value.meaning()))
                        .collect(Collectors.joining("\n")));
    }

    private static String record(LayoutSpec.Place place) {
        return """

                ## %s
                %s of %d bytes at offset %d.

                | offset | field | type | written by | order | meaning | after a crash |
                |---|---|---|---|---|---|---|
                %s
                """.formatted(
                place.record().name(),
                place.count() == 1 ? "One record" : (place.isOpen() ? "n" : place.count()) + " records",
                place.record().bytes(),
                place.offset(),
                place.record().fields().stream().map(LayoutPage::field).collect(Collectors.joining("\n")));
    }

    private static String field(LayoutSpec.Field field) {
        return "| %d | `%s` | %s | %s | %s | %s | %s |".formatted(
                field.offset(), field.name(), field.type().word(), dash(String.join(", ", field.writers())), field.order().word(),
                field.meaning(), dash(field.afterCrash()));
    }

    private static String dash(String text) {
        return text.equals("-") ? "–" : text;
    }
}
