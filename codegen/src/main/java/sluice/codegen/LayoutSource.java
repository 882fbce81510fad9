package sluice.codegen;

import java.util.stream.Collectors;

/// `RegionLayout.java`: sizes, offsets and counts of the region.
final class LayoutSource {
    private LayoutSource() {}

    static String emit(RegionSpec region) {
        return """
                package sluice.region;

                /// Generated from spec/region.abi: the layout of the region's file. docs/region.md explains every field.
                public final class RegionLayout {
                    /// Version of the layout.
                    public static final int LAYOUT = %d;

                    /// The first word of the file.
                    public static final long MAGIC = 0x%xL;

                    /// Size of the file.
                    public static final long REGION_BYTES = %dL;

                    /// Size of page 0, which the library maps read-only.
                    public static final int PAGE_BYTES = %d;
                %s
                    private RegionLayout() {}
                }
                """.formatted(
                        region.layout(),
                        region.magicNumber(),
                        region.regionBytes(),
                        region.pageBytes(),
                        region.places().stream().map(LayoutSource::place).collect(Collectors.joining()));
    }

    private static String place(RegionSpec.Place place) {
        return """

                    /// Where the %2$s records lie, how large one is and how many there are.
                    public static final long %1$s_OFFSET = %3$dL;
                    public static final int %1$s_BYTES = %4$d;
                    public static final int %1$s_COUNT = %5$d;
                """.formatted(
                JavaNames.constant(place.record().name()),
                place.record().name(),
                place.offset(),
                place.record().bytes(),
                place.count()) + (place.count() == 1 ? fields(place) : "");
    }

    /// For who writes a record that exists once without a mapped view.
    private static String fields(RegionSpec.Place place) {
        return place.record().fields().stream()
                .map(field -> "    public static final int %s_%s_OFFSET = %d;\n".formatted(
                        JavaNames.constant(place.record().name()),
                        JavaNames.constant(field.name()),
                        place.offset() + field.offset()))
                .collect(Collectors.joining());
    }
}
