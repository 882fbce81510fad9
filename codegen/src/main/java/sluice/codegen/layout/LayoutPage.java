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

                Layout %d, %s, little-endian. %s

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
                        spec.hasFormat() ? VERSIONS.formatted(spec.revision()) + features(spec)
                                : "A reader that finds another layout refuses and names both versions.",
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

    private static final String VERSIONS = """
            Revision %d.

            ## Versions
            The library and the tools of different versions of Sluice use one file together.
            - **Layout** changes only when something moves or changes its meaning. Two programs of different layouts refuse each other and name both.
            - **Revision** counts changes that fit: a new field in unused bytes at the end of a record, or a new record in unused bytes of the file.
              Nothing moves. Unused bytes are 0, so a field that the other side does not know is 0.
            - **`format`** says where the records of this file lie and how large each is. Tools find records by it. The library has the
              places compiled in; it compares them once, when it maps the file.
            - **Features** are bits. The creator of a file says which it offers. A reader that does not know a *required* bit refuses and names it; other
              bits that it does not know mean nothing to it.
            """;

    private static String features(LayoutSpec spec) {
        return """

                | bit | feature | required | meaning |
                |---|---|---|---|
                %s""".formatted(spec.features().stream()
                        .map(feature -> "| %d | `%s` | %s | %s |".formatted(feature.bit(), feature.name(), feature.required() ? "yes" : "no", feature.meaning()))
                        .collect(Collectors.joining("\n")));
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
                %s of %d bytes at offset %d.%s

                | offset | field | type | written by | order | meaning | after a crash |
                |---|---|---|---|---|---|---|
                %s
                """.formatted(
                place.record().name(),
                place.count() == 1 ? "One record" : (place.isOpen() ? "n" : place.count()) + " records",
                place.record().bytes(),
                place.offset(),
                place.since() == 0 ? "" : " Since revision " + place.since() + ".",
                place.record().fields().stream().map(LayoutPage::field).collect(Collectors.joining("\n")));
    }

    private static String field(LayoutSpec.Field field) {
        return "| %d | `%s` | %s | %s | %s | %s | %s |".formatted(
                field.offset(), field.name(), field.type().word(), dash(String.join(", ", field.writers())), field.order().word(),
                field.meaning() + (field.since() == 0 ? "" : "; since revision " + field.since()), dash(field.afterCrash()));
    }

    private static String dash(String text) {
        return text.equals("-") ? "–" : text;
    }
}
