package sluice.codegen.layout;

import java.util.stream.Collectors;
import sluice.codegen.text.JavaNames;

/// `RegionLayout.java` and its like: sizes, offsets and counts of a shared file.
public final class LayoutSource {
    private LayoutSource() {}

    public static String emit(LayoutSpec spec) {
        return """
                package sluice.region.layout;

                /// Generated from spec/%1$s.abi: the layout of the %1$s's file. docs/%9$s explains every field.
                public final class %2$s {
                    /// Version of the layout.
                    public static final int LAYOUT = %3$d;

                    /// The first word of the file.
                    public static final long MAGIC = 0x%4$xL;

                    /// Size of the file%10$s.
                    public static final long %5$s_BYTES = %6$dL;

                    /// Size of page 0%11$s.
                    public static final int PAGE_BYTES = %7$d;
                %13$s%12$s%8$s
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
                        spec.places().stream().map(place -> place(spec, place)).collect(Collectors.joining()),
                        spec.file().page(),
                        spec.places().stream().anyMatch(LayoutSpec.Place::isOpen) ? " without the records that it counts itself" : "",
                        spec.file().firstPageIsReadOnly() ? ", which the library maps read-only" : "",
                        spec.values().stream().map(LayoutSource::value).collect(Collectors.joining()),
                        spec.hasFormat() ? format(spec) : "");
    }

    private static String format(LayoutSpec spec) {
        return """

                    /// Compatible changes of the layout so far.
                    public static final int REVISION = %d;

                    /// Bits of the features that are known here, those that a new file requires, and their names from bit 0 on.
                    public static final long FEATURES = 0x%xL;
                    public static final long FEATURES_REQUIRED = 0x%xL;
                    public static final String FEATURE_NAMES = "%s";

                    /// Where the records of a new file lie.
                    public static final LayoutPlaces PLACES = new LayoutPlaces(
                %s);
                """.formatted(spec.revision(), spec.knownFeatures(), spec.requiredFeatures(), spec.featureNames(), spec.places().stream()
                        .map(place -> "            \"%s\", %dL, %d, %d, %d, %b".formatted(place.record().name(), place.offset(), place.record().bytes(),
                                place.count(), place.record().leastBytes(), place.since() > 0))
                        .map(place -> "            new LayoutPlaces.Place(" + place.strip() + ")")
                        .collect(Collectors.joining(",\n")));
    }

    private static String value(LayoutSpec.Value value) {
        var meaning = Character.toUpperCase(value.meaning().charAt(0)) + value.meaning().substring(1);
        return """

                    /// %s.
                    public static final int %s = %d;
                """.formatted(meaning, JavaNames.constant(value.name()), value.number());
    }

    private static String place(LayoutSpec spec, LayoutSpec.Place place) {
        return """

                    /// Where the %2$s records lie%6$s.
                    public static final long %1$s_OFFSET = %3$dL;
                    public static final int %1$s_BYTES = %4$d;
                %5$s%7$s""".formatted(
                JavaNames.constant(place.record().name()),
                place.record().name(),
                place.offset(),
                place.record().bytes(),
                place.isOpen() ? "" : "    public static final int %s_COUNT = %d;\n"
                        .formatted(JavaNames.constant(place.record().name()), place.count()),
                place.isOpen() ? " and how large one is" : ", how large one is and how many there are",
                spec.hasFormat() ? "    public static final int %s_PLACE = %d;\n"
                        .formatted(JavaNames.constant(place.record().name()), spec.places().indexOf(place)) : "") + (place.count() <= 1 ? fields(place) : "");
    }

    /// For code without a view that writes a record that exists once, or reads many. Of many it is the offset of the first.
    private static String fields(LayoutSpec.Place place) {
        return place.record().fields().stream()
                .map(field -> "    public static final int %s_%s_OFFSET = %d;\n".formatted(
                        JavaNames.constant(place.record().name()),
                        JavaNames.constant(field.name()),
                        place.offset() + field.offset()))
                .collect(Collectors.joining());
    }
}
