package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Memory pools. A handle is its 64-bit value.
public record Pools(
        @Entry(since = 11020, takes = "PI") MethodHandle cuDeviceGetDefaultMemPool,
        @Entry(since = 11020, takes = "PP") MethodHandle cuMemPoolCreate,
        @Entry(since = 11020, takes = "L") MethodHandle cuMemPoolDestroy,
        @Entry(since = 11020, takes = "LL") MethodHandle cuMemPoolTrimTo,
        @Entry(since = 11020, takes = "LIP") MethodHandle cuMemPoolSetAttribute,
        @Entry(since = 11020, takes = "LIP") MethodHandle cuMemPoolGetAttribute,
        @Entry(since = 11020, takes = "PLLL") MethodHandle cuMemAllocFromPoolAsync) {

    private static final long PROPERTIES_BYTES = 88;
    private static final int PINNED = 1;
    private static final int ON_DEVICE = 1;
    private static final int RELEASE_THRESHOLD = 4;
    private static final int RESERVED = 5;

    public CallResult ofDevice(int device) {
        return Calls.longFrom(out -> (int) cuDeviceGetDefaultMemPool.invokeExact(out, device));
    }

    /// CUmemPoolProps: allocation type, handle types, location type, location id, then what may stay zero.
    public CallResult create(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = arena.allocate(PROPERTIES_BYTES, JAVA_LONG.byteAlignment());
            properties.setAtIndex(JAVA_INT, 0, PINNED);
            properties.setAtIndex(JAVA_INT, 2, ON_DEVICE);
            properties.setAtIndex(JAVA_INT, 3, device);
            return Calls.longFrom(out -> (int) cuMemPoolCreate.invokeExact(out, properties));
        }
    }

    public int destroy(long pool) {
        return Calls.status(() -> (int) cuMemPoolDestroy.invokeExact(pool));
    }

    public int trim(long pool, long keepBytes) {
        return Calls.status(() -> (int) cuMemPoolTrimTo.invokeExact(pool, keepBytes));
    }

    /// How much free memory the pool keeps when a stream is synchronised.
    public int keep(long pool, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocateFrom(JAVA_LONG, bytes);
            return Calls.status(() -> (int) cuMemPoolSetAttribute.invokeExact(pool, RELEASE_THRESHOLD, value));
        }
    }

    public CallResult reservedBytes(long pool) {
        return Calls.longFrom(out -> (int) cuMemPoolGetAttribute.invokeExact(pool, RESERVED, out));
    }

    public CallResult allocate(long bytes, long pool, long stream) {
        return Calls.longFrom(out -> (int) cuMemAllocFromPoolAsync.invokeExact(out, bytes, pool, stream));
    }
}
