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
        @Entry(since = 5000, takes = "L") MethodHandle cuMipmappedArrayDestroy,
        @Entry(since = 11010, takes = "PIL") MethodHandle cuMemMapArrayAsync) {

    /// Elements of one or more channels; height and depth are 0 for an array without that dimension.
    ///
    /// @param format CU_AD_FORMAT: 1 bytes, 2 words of 16 bits, 0x20 floats
    public record Shape(long width, long height, long depth, int format, int channels) {}

    private static final long DESCRIPTOR_BYTES = 24;
    private static final long DESCRIPTOR_3D_BYTES = 40;
    private static final int SPARSE = 0x40;
    private static final long MAP_INFO_BYTES = 96;
    private static final int MAP = 1;
    private static final int UNMAP = 2;

    /// By cuArrayCreate, which knows no depth.
    public CallResult create(Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(DESCRIPTOR_BYTES, JAVA_LONG.byteAlignment());
            wanted.set(JAVA_LONG, 0, shape.width());
            wanted.set(JAVA_LONG, 8, shape.height());
            wanted.set(JAVA_INT, 16, shape.format());
            wanted.set(JAVA_INT, 20, shape.channels());
            return Calls.longFrom(out -> (int) cuArrayCreate_v2.invokeExact(out, wanted));
        }
    }

    public CallResult create3D(Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = descriptor(arena, shape);
            return Calls.longFrom(out -> (int) cuArray3DCreate_v2.invokeExact(out, wanted));
        }
    }

    /// An array without memory of its own.
    public CallResult createSparse(Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = descriptor(arena, shape);
            wanted.set(JAVA_INT, 32, SPARSE);
            return Calls.longFrom(out -> (int) cuArray3DCreate_v2.invokeExact(out, wanted));
        }
    }

    /// A rectangle of a sparse array, in elements.
    public record Place(long array, int x, int y, int width, int height) {}

    /// Puts physical memory behind a rectangle.
    public int map(Place place, long handle, int device, long stream) {
        return map(place, MAP, handle, device, stream);
    }

    public int unmap(Place place, int device, long stream) {
        return map(place, UNMAP, 0, device, stream);
    }

    /// CUarrayMapInfo: which array, where in it (level and layer 0), what to do, with which memory, on which device.
    private int map(Place place, int operation, long handle, int device, long stream) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(MAP_INFO_BYTES, JAVA_LONG.byteAlignment());
            info.set(JAVA_LONG, 8, place.array());
            info.set(JAVA_INT, 32, place.x());
            info.set(JAVA_INT, 36, place.y());
            info.set(JAVA_INT, 44, place.width());
            info.set(JAVA_INT, 48, place.height());
            info.set(JAVA_INT, 52, 1);
            info.set(JAVA_INT, 56, operation);
            info.set(JAVA_LONG, 64, handle);
            info.set(JAVA_INT, 80, 1 << device);
            return Calls.status(() -> (int) cuMemMapArrayAsync.invokeExact(info, 1, stream));
        }
    }

    public CallResult createMipmapped(Shape shape, int levels) {
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
