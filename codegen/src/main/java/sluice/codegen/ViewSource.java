package sluice.codegen;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/// `…View.java`: one record of the region as a Java class over the mapped file.
final class ViewSource {
    private ViewSource() {}

    static String className(RegionSpec.Record record) {
        return JavaNames.pascal(record.name()) + "View";
    }

    static String emit(RegionSpec region, RegionSpec.Record record) {
        var place = region.places().stream().filter(it -> it.record() == record).findFirst().orElseThrow();
        var indexed = place.count() > 1
                || record.fields().stream().anyMatch(field -> field.type() instanceof FieldType.Array);
        return """
                package sluice.region;

                import java.lang.foreign.MemorySegment;
                import java.lang.foreign.ValueLayout;
                import java.lang.invoke.VarHandle;
                %s
                /// Generated from spec/region.abi: one %s record of a region. Reads and writes go straight to the mapped file.
                public final class %s {
                %s
                    private final MemorySegment segment;

                    private %s(MemorySegment segment) {
                        this.segment = segment;
                    }

                %s
                %s}
                """.formatted(
                        indexed ? "import java.util.Objects;\n" : "",
                        record.name(),
                        className(record),
                        handles(record),
                        className(record),
                        factory(place),
                        record.fields().stream()
                                .map(FieldSource::emit)
                                .collect(Collectors.joining("\n"))
                                .indent(4)
                                .replace("    \n", "\n"));
    }

    private static String handles(RegionSpec.Record record) {
        return Stream.of("INT", "LONG")
                .filter(handle -> record.fields().stream().anyMatch(field -> FieldSource.handle(field.type()).equals(handle)))
                .map(handle -> "    private static final VarHandle %1$s = ValueLayout.JAVA_%1$s.varHandle();\n".formatted(handle))
                .collect(Collectors.joining());
    }

    private static String factory(RegionSpec.Place place) {
        var name = JavaNames.constant(place.record().name());
        var type = className(place.record());
        return (place.count() == 1
                ? """
                /// The record in a mapped region.
                public static %2$s of(MemorySegment region) {
                    return new %2$s(region.asSlice(RegionLayout.%1$s_OFFSET, RegionLayout.%1$s_BYTES));
                }
                """
                : """
                /// The record with this index in a mapped region.
                public static %2$s at(MemorySegment region, int index) {
                    Objects.checkIndex(index, RegionLayout.%1$s_COUNT);
                    return new %2$s(region.asSlice(
                            RegionLayout.%1$s_OFFSET + (long) index * RegionLayout.%1$s_BYTES, RegionLayout.%1$s_BYTES));
                }
                """).formatted(name, type).indent(4);
    }
}
