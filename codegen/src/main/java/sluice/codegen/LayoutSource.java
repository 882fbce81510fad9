package sluice.codegen;

import java.util.stream.Collectors;

/// `RegionLayout.java`, `BoardLayout.java`: sizes, offsets and counts of a shared file.
final class LayoutSource {
    private LayoutSource() {}

    static String emit(LayoutSpec spec) {
        return """
                package sluice.region;

                /// Generated from spec/%1$s.abi: the layout of the %1$s's file. docs/%1$s.md explains every field.
                public final class %2$s {
                    /// Version of the layout.
                    public static final int LAYOUT = %3$d;

                    /// The first word of the file.
                    public static final long MAGIC = 0x%4$xL;

                    /// Size of the file.
                    public static final long %5$s_BYTES = %6$dL;

                    /// Size of page 0, which the library maps read-only.
                    public static final int PAGE_BYTES = %7$d;
                %8$s
                    private %2$s() {}
                }
                """.formatted(
                        spec.file().word(),
                        spec.file().layoutClass(),
                        spec.layout(),
                        spec.magicNumber(),
                        JavaNames.constant(spec.file().word()),
                        spec.fileBytes(),
                        spec.pageBytes(),
                        spec.places().stream().map(LayoutSource::place).collect(Collectors.joining()));
    }

    private static String place(LayoutSpec.Place place) {
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
    private static String fields(LayoutSpec.Place place) {
        return place.record().fields().stream()
                .map(field -> "    public static final int %s_%s_OFFSET = %d;\n".formatted(
                        JavaNames.constant(place.record().name()),
                        JavaNames.constant(field.name()),
                        place.offset() + field.offset()))
                .collect(Collectors.joining());
    }
}
