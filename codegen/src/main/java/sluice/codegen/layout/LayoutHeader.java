package sluice.codegen.layout;

import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/// `region_layout.h` and its like: the records of a file as C structs, with an assertion for each offset and size.
public final class LayoutHeader {
    private LayoutHeader() {}

    public static String emit(LayoutSpec spec) {
        var word = spec.file().word();
        return """
                /* Generated from spec/%1$s.abi: the layout of the %1$s. docs/%9$s explains every field. */
                #ifndef SL_%2$s_LAYOUT_H
                #define SL_%2$s_LAYOUT_H

                #include <stdatomic.h>
                #include <stddef.h>
                #include <stdint.h>
                #include <string.h>

                #define SL_%2$s_LAYOUT %3$d
                #define SL_%2$s_MAGIC 0x%4$xull
                #define SL_%2$s_BYTES %5$d
                #define SL_%2$s_PAGE_BYTES %6$d

                %7$s

                %10$s%8$s
                %11$s
                #endif
                """.formatted(
                        word,
                        word.toUpperCase(Locale.ROOT),
                        spec.layout(),
                        spec.magicNumber(),
                        spec.fileBytes(),
                        spec.pageBytes(),
                        spec.places().stream().map(place -> place(word, place)).collect(Collectors.joining("\n")),
                        spec.records().stream().map(record -> struct(word, record)).collect(Collectors.joining("\n\n")),
                        spec.file().page(),
                        values(spec),
                        spec.hasFormat() ? format(spec) : "");
    }

    /// The format record of the file. Its creator writes it, and a process that maps the file compares it.
    private static String format(LayoutSpec spec) {
        var word = spec.file().word().toUpperCase(Locale.ROOT);
        return """

                /* Bits of the features that are known here. */
                #define SL_%1$s_FEATURES 0x%2$xull

                /* The format record of a new file, but for the version of its creator. */
                #define SL_%1$s_FORMAT \\
                    { \\
                        .revision = %3$d, .places = %4$d, \\
                        .features_offered = 0x%2$xull, \\
                        .features_required = 0x%5$xull, \\
                        .feature_names = "%6$s", \\
                        .place_offset = {%7$s}, \\
                        .place_bytes = {%8$s}, \\
                        .place_count = {%9$s}, \\
                    }

                /* Names of the records, in the order of their places. */
                #define SL_%1$s_PLACE_NAMES {%10$s}

                /* Places that every revision of the layout has. */
                #define SL_%1$s_FIRST_PLACES %11$d
                """.formatted(word, spec.knownFeatures(), spec.revision(), spec.places().size(), spec.requiredFeatures(), spec.featureNames(),
                list(spec, LayoutSpec.Place::offset), list(spec, place -> place.record().bytes()), list(spec, LayoutSpec.Place::count),
                list(spec, place -> '"' + place.record().name() + '"'), spec.places().stream().filter(place -> place.since() == 0).count());
    }

    private static String list(LayoutSpec spec, Function<LayoutSpec.Place, Object> part) {
        return spec.places().stream().map(place -> part.apply(place).toString()).collect(Collectors.joining(", "));
    }

    private static String values(LayoutSpec spec) {
        if (spec.values().isEmpty()) {
            return "";
        }
        return spec.values().stream()
                .map(value -> "    SL_%s_%s = %d,\n".formatted(
                        spec.file().word().toUpperCase(Locale.ROOT), value.name().toUpperCase(Locale.ROOT), value.number()))
                .collect(Collectors.joining("", "enum {\n", "};\n\n"));
    }

    private static String place(String word, LayoutSpec.Place place) {
        var name = (word + "_" + place.record().name()).toUpperCase(Locale.ROOT);
        var count = place.isOpen() ? "" : "\n#define SL_%s_COUNT %d".formatted(name, place.count());
        return "#define SL_%s_OFFSET %d%s".formatted(name, place.offset(), count);
    }

    private static String struct(String word, LayoutSpec.Record record) {
        var type = "sl_" + word + "_" + record.name() + "_t";
        var rest = record.bytes() - record.usedBytes();
        var fields = record.fields().stream()
                .map(field -> "    " + declaration(field) + ";\n")
                .collect(Collectors.joining());
        var offsets = record.fields().stream()
                .map(field -> "_Static_assert(offsetof(%s, %s) == %d, \"offset of %s.%s\");\n"
                        .formatted(type, field.name(), field.offset(), record.name(), field.name()))
                .collect(Collectors.joining());
        return """
                typedef struct {
                %s} %s;
                %s_Static_assert(sizeof(%s) == %d, "size of %s");
                /* Stores 0 to each field, also to those of later versions. Other processes may read the atomic ones meanwhile. */
                static inline void sl_%s_clear_%s(%s *record) {
                %s}""".formatted(
                rest == 0 ? fields : fields + "    uint8_t unused_bytes[" + rest + "];\n",
                type, offsets, type, record.bytes(), record.name(), word, record.name(), type,
                record.fields().stream().map(LayoutHeader::clear).collect(Collectors.joining())
                        + (rest == 0 ? "" : "    memset(record->unused_bytes, 0, sizeof record->unused_bytes);\n"));
    }

    private static String clear(LayoutSpec.Field field) {
        return switch (field.type()) {
            case FieldType.Scalar _ -> "    record->%s = 0;\n".formatted(field.name());
            case FieldType.Array(_, var length) -> "    for (int i = 0; i < %d; i++)\n        record->%s[i] = 0;\n".formatted(length, field.name());
            case FieldType.Text _, FieldType.Bytes _ -> "    memset(record->%1$s, 0, sizeof record->%1$s);\n".formatted(field.name());
        };
    }

    private static String declaration(LayoutSpec.Field field) {
        var atomic = field.concurrent() ? "_Atomic " : "";
        return atomic + switch (field.type()) {
            case FieldType.Scalar(var number) -> number.cType() + " " + field.name();
            case FieldType.Array(var number, var length) -> number.cType() + " " + field.name() + "[" + length + "]";
            case FieldType.Text(var bytes) -> "char " + field.name() + "[" + bytes + "]";
            case FieldType.Bytes(var bytes) -> "uint8_t " + field.name() + "[" + bytes + "]";
        };
    }
}
