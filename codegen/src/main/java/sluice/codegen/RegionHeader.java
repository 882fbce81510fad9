package sluice.codegen;

import java.util.Locale;
import java.util.stream.Collectors;

/// `region_layout.h`: the region's records as C structs, with an assertion for each offset and size.
final class RegionHeader {
    private RegionHeader() {}

    static String emit(RegionSpec region) {
        return """
                /* Generated from spec/region.abi: the layout of the region. docs/region.md explains every field. */
                #ifndef SL_REGION_LAYOUT_H
                #define SL_REGION_LAYOUT_H

                #include <stdatomic.h>
                #include <stddef.h>
                #include <stdint.h>

                #define SL_REGION_LAYOUT %d
                #define SL_REGION_MAGIC 0x%xull
                #define SL_REGION_BYTES %d
                #define SL_REGION_PAGE_BYTES %d

                %s

                %s

                #endif
                """.formatted(
                        region.layout(),
                        region.magicNumber(),
                        region.regionBytes(),
                        region.pageBytes(),
                        region.places().stream().map(RegionHeader::place).collect(Collectors.joining("\n")),
                        region.records().stream().map(RegionHeader::struct).collect(Collectors.joining("\n\n")));
    }

    private static String place(RegionSpec.Place place) {
        var name = place.record().name().toUpperCase(Locale.ROOT);
        return """
                #define SL_REGION_%1$s_OFFSET %2$d
                #define SL_REGION_%1$s_COUNT %3$d""".formatted(name, place.offset(), place.count());
    }

    private static String struct(RegionSpec.Record record) {
        var type = "sl_region_" + record.name() + "_t";
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
                %s_Static_assert(sizeof(%s) == %d, "size of %s");""".formatted(
                rest == 0 ? fields : fields + "    uint8_t unused_bytes[" + rest + "];\n",
                type, offsets, type, record.bytes(), record.name());
    }

    private static String declaration(RegionSpec.Field field) {
        var atomic = field.concurrent() ? "_Atomic " : "";
        return atomic + switch (field.type()) {
            case FieldType.Scalar(var number) -> number.cType() + " " + field.name();
            case FieldType.Array(var number, var length) -> number.cType() + " " + field.name() + "[" + length + "]";
            case FieldType.Text(var bytes) -> "char " + field.name() + "[" + bytes + "]";
            case FieldType.Bytes(var bytes) -> "uint8_t " + field.name() + "[" + bytes + "]";
        };
    }
}
