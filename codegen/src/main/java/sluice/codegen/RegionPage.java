package sluice.codegen;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// `docs/region.md`: the constitution of the region.
final class RegionPage {
    private RegionPage() {}

    static String emit(RegionSpec region) {
        return """
                # The region

                The memory-mapped file of one tenant, shared by the library in each of its processes and by the tools.
                Generated from `spec/region.abi`; to change it, change that and run `mvn -q -pl codegen compile exec:exec@docs`.

                Layout %d, %d bytes, little-endian. A reader that finds another layout refuses and names both versions.

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
                %s""".formatted(
                        region.layout(),
                        region.regionBytes(),
                        IntStream.range(0, region.rules().size())
                                .mapToObj(i -> i + 1 + ". " + region.rules().get(i))
                                .collect(Collectors.joining("\n")),
                        Arrays.stream(Order.values())
                                .map(order -> "| %s | %s |".formatted(order.word(), order.meaning()))
                                .collect(Collectors.joining("\n")),
                        RegionDiagram.emit(region),
                        region.places().stream().map(RegionPage::record).collect(Collectors.joining()));
    }

    private static String record(RegionSpec.Place place) {
        return """

                ## %s
                %s of %d bytes at offset %d.

                | offset | field | type | written by | order | meaning | after a crash |
                |---|---|---|---|---|---|---|
                %s
                """.formatted(
                place.record().name(),
                place.count() == 1 ? "One record" : place.count() + " records",
                place.record().bytes(),
                place.offset(),
                place.record().fields().stream().map(RegionPage::field).collect(Collectors.joining("\n")));
    }

    private static String field(RegionSpec.Field field) {
        return "| %d | `%s` | %s | %s | %s | %s | %s |".formatted(
                field.offset(), field.name(), field.type().word(), dash(field.writer()), field.order().word(),
                field.meaning(), dash(field.afterCrash()));
    }

    private static String dash(String text) {
        return text.equals("-") ? "–" : text;
    }
}
