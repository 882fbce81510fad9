package sluice.codegen.layout;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.codegen.text.JavaNames;

/// `…View.java`: one record of a shared file as a Java class over the mapped file.
public final class ViewSource {
    private ViewSource() {}

    public static String emit(LayoutSpec spec, LayoutSpec.Record record) {
        var type = spec.file().viewClass(record);
        var place = spec.places().stream().filter(it -> it.record() == record).findFirst().orElseThrow();
        var indexed = place.count() > 1 || place.isOpen()
                || record.fields().stream().anyMatch(field -> field.type() instanceof FieldType.Array);
        return """
                package sluice.region.layout;

                import java.lang.foreign.MemorySegment;
                import java.lang.foreign.ValueLayout;
                import java.lang.invoke.VarHandle;
                %s
                /// Generated from spec/%s: one %s record of a %s. Reads and writes go straight to the mapped file.
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
                        spec.file().fileName(),
                        record.name(),
                        spec.file().word(),
                        type,
                        handles(record),
                        type,
                        factory(spec.file(), place) + (spec.hasFormat() ? placed(spec.file(), place) : ""),
                        record.fields().stream()
                                .map(FieldSource::emit)
                                .collect(Collectors.joining("\n"))
                                .indent(4)
                                .replace("    \n", "\n"));
    }

    private static String handles(LayoutSpec.Record record) {
        return Stream.of("SHORT", "INT", "LONG")
                .filter(handle -> record.fields().stream().anyMatch(field -> FieldSource.handle(field.type()).equals(handle)))
                .map(handle -> "    private static final VarHandle %1$s = ValueLayout.JAVA_%1$s.varHandle();\n".formatted(handle))
                .collect(Collectors.joining());
    }

    private static String placed(LayoutFile file, LayoutSpec.Place place) {
        var name = JavaNames.constant(place.record().name());
        return (place.count() == 1
                ? """

                /// The same in a %3$s that says itself where its records lie.
                public static %2$s of(MemorySegment %3$s, LayoutPlaces places) {
                    return new %2$s(places.record(%3$s, %4$s.%1$s_PLACE, 0, %4$s.%1$s_BYTES));
                }
                """
                : """

                /// The same in a %3$s that says itself where its records lie.
                public static %2$s at(MemorySegment %3$s, LayoutPlaces places, int index) {
                    Objects.checkIndex(index, %4$s.%1$s_COUNT);
                    return new %2$s(places.record(%3$s, %4$s.%1$s_PLACE, index, %4$s.%1$s_BYTES));
                }
                """).formatted(name, file.viewClass(place.record()), file.word(), file.layoutClass()).indent(4).replace("    \n", "\n");
    }

    private static String factory(LayoutFile file, LayoutSpec.Place place) {
        var name = JavaNames.constant(place.record().name());
        return (place.count() == 1
                ? """
                /// The record in a mapped %3$s.
                public static %2$s of(MemorySegment %3$s) {
                    return new %2$s(%3$s.asSlice(%4$s.%1$s_OFFSET, %4$s.%1$s_BYTES));
                }
                """
                : place.isOpen()
                ? """
                /// The record with this index in a mapped %3$s, which must have it.
                public static %2$s at(MemorySegment %3$s, long index) {
                    Objects.checkIndex(index, (%3$s.byteSize() - %4$s.%1$s_OFFSET) / %4$s.%1$s_BYTES);
                    return new %2$s(%3$s.asSlice(
                            %4$s.%1$s_OFFSET + index * %4$s.%1$s_BYTES, %4$s.%1$s_BYTES));
                }
                """
                : """
                /// The record with this index in a mapped %3$s.
                public static %2$s at(MemorySegment %3$s, int index) {
                    Objects.checkIndex(index, %4$s.%1$s_COUNT);
                    return new %2$s(%3$s.asSlice(
                            %4$s.%1$s_OFFSET + (long) index * %4$s.%1$s_BYTES, %4$s.%1$s_BYTES));
                }
                """).formatted(name, file.viewClass(place.record()), file.word(), file.layoutClass()).indent(4);
    }
}
