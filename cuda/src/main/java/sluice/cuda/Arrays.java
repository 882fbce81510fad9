package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Arrays, whose layout only the driver knows. A handle is its 64-bit value.
public record Arrays(
        @Entry(since = 3020, takes = "PP") MethodHandle cuArrayCreate_v2,
        @Entry(since = 3020, takes = "PP") MethodHandle cuArray3DCreate_v2,
        @Entry(since = 2000, takes = "L") MethodHandle cuArrayDestroy,
        @Entry(since = 5000, takes = "PPI") MethodHandle cuMipmappedArrayCreate,
        @Entry(since = 5000, takes = "L") MethodHandle cuMipmappedArrayDestroy) {

    /// Elements of one or more channels; height and depth are 0 for an array without that dimension.
    ///
    /// @param format CU_AD_FORMAT: 1 bytes, 2 words of 16 bits, 0x20 floats
    public record Shape(long width, long height, long depth, int format, int channels) {}

    private static final long DESCRIPTOR_BYTES = 24;
    private static final long DESCRIPTOR_3D_BYTES = 40;

    /// By cuArrayCreate, which knows no depth.
    public Answer create(Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(DESCRIPTOR_BYTES, JAVA_LONG.byteAlignment());
            wanted.set(JAVA_LONG, 0, shape.width());
            wanted.set(JAVA_LONG, 8, shape.height());
            wanted.set(JAVA_INT, 16, shape.format());
            wanted.set(JAVA_INT, 20, shape.channels());
            return Calls.longFrom(out -> (int) cuArrayCreate_v2.invokeExact(out, wanted));
        }
    }

    public Answer create3D(Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = descriptor(arena, shape);
            return Calls.longFrom(out -> (int) cuArray3DCreate_v2.invokeExact(out, wanted));
        }
    }

    public Answer createMipmapped(Shape shape, int levels) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = descriptor(arena, shape);
            return Calls.longFrom(out -> (int) cuMipmappedArrayCreate.invokeExact(out, wanted, levels));
        }
    }

    public int destroy(long array) {
        return Calls.status(() -> (int) cuArrayDestroy.invokeExact(array));
    }

    public int destroyMipmapped(long array) {
        return Calls.status(() -> (int) cuMipmappedArrayDestroy.invokeExact(array));
    }

    private static MemorySegment descriptor(Arena arena, Shape shape) {
        MemorySegment wanted = arena.allocate(DESCRIPTOR_3D_BYTES, JAVA_LONG.byteAlignment());
        wanted.set(JAVA_LONG, 0, shape.width());
        wanted.set(JAVA_LONG, 8, shape.height());
        wanted.set(JAVA_LONG, 16, shape.depth());
        wanted.set(JAVA_INT, 24, shape.format());
        wanted.set(JAVA_INT, 28, shape.channels());
        return wanted;
    }
}
