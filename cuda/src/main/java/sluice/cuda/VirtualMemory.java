package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Physical memory and addresses apart (CUDA's VMM). A handle is its 64-bit value.
public record VirtualMemory(
        @Entry(since = 10020, takes = "PPI") MethodHandle cuMemGetAllocationGranularity,
        @Entry(since = 10020, takes = "PLLLL") MethodHandle cuMemAddressReserve,
        @Entry(since = 10020, takes = "LL") MethodHandle cuMemAddressFree,
        @Entry(since = 10020, takes = "PLPL") MethodHandle cuMemCreate,
        @Entry(since = 10020, takes = "L") MethodHandle cuMemRelease,
        @Entry(since = 10020, takes = "LLLLL") MethodHandle cuMemMap,
        @Entry(since = 10020, takes = "LL") MethodHandle cuMemUnmap,
        @Entry(since = 10020, takes = "LLPL") MethodHandle cuMemSetAccess,
        @Entry(since = 11000, takes = "PL") MethodHandle cuMemRetainAllocationHandle) {

    private static final int PINNED = 1;
    private static final int ON_DEVICE = 1;
    private static final int ON_HOST = 2;
    private static final int READ_WRITE = 3;
    private static final int MINIMUM = 0;
    private static final int FILE_DESCRIPTOR = 1;
    private static final long USAGE_OFFSET = 26;
    private static final short TILE_POOL = 1;
    private static final long PROPERTIES_BYTES = 32;

    public CallResult granularity(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = properties(arena, ON_DEVICE, device);
            return Calls.longFrom(out -> (int) cuMemGetAllocationGranularity.invokeExact(out, properties, MINIMUM));
        }
    }

    public CallResult reserve(long bytes) {
        return Calls.longFrom(out -> (int) cuMemAddressReserve.invokeExact(out, bytes, 0L, 0L, 0L));
    }

    public int unreserve(long pointer, long bytes) {
        return Calls.status(() -> (int) cuMemAddressFree.invokeExact(pointer, bytes));
    }

    public CallResult create(long bytes, int device) {
        return create(bytes, ON_DEVICE, device);
    }

    public CallResult createOnHost(long bytes) {
        return create(bytes, ON_HOST, 0);
    }

    /// Memory that can be exported as a file descriptor.
    public CallResult createToExport(long bytes, int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = properties(arena, ON_DEVICE, device);
            properties.setAtIndex(JAVA_INT, 1, FILE_DESCRIPTOR);
            return Calls.longFrom(out -> (int) cuMemCreate.invokeExact(out, bytes, properties, 0L));
        }
    }

    /// Memory that can be mapped into sparse arrays.
    public CallResult createTiles(long bytes, int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = properties(arena, ON_DEVICE, device);
            properties.set(JAVA_SHORT, USAGE_OFFSET, TILE_POOL);
            return Calls.longFrom(out -> (int) cuMemCreate.invokeExact(out, bytes, properties, 0L));
        }
    }

    private CallResult create(long bytes, int locationType, int location) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = properties(arena, locationType, location);
            return Calls.longFrom(out -> (int) cuMemCreate.invokeExact(out, bytes, properties, 0L));
        }
    }

    public int release(long handle) {
        return Calls.status(() -> (int) cuMemRelease.invokeExact(handle));
    }

    /// One more handle of what is mapped at an address.
    public CallResult retain(long pointer) {
        return Calls.longFrom(out -> (int) cuMemRetainAllocationHandle.invokeExact(out, pointer));
    }

    public int map(long pointer, long bytes, long handle) {
        return Calls.status(() -> (int) cuMemMap.invokeExact(pointer, bytes, 0L, handle, 0L));
    }

    public int unmap(long pointer, long bytes) {
        return Calls.status(() -> (int) cuMemUnmap.invokeExact(pointer, bytes));
    }

    public int allowAccess(long pointer, long bytes, int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment access = arena.allocateFrom(JAVA_INT, ON_DEVICE, device, READ_WRITE);
            return Calls.status(() -> (int) cuMemSetAccess.invokeExact(pointer, bytes, access, 1L));
        }
    }

    /// CUmemAllocationProp: type, handle types, location type, location id, then what may stay zero.
    private static MemorySegment properties(Arena arena, int locationType, int location) {
        MemorySegment properties = arena.allocate(PROPERTIES_BYTES, JAVA_LONG.byteAlignment());
        properties.setAtIndex(JAVA_INT, 0, PINNED);
        properties.setAtIndex(JAVA_INT, 2, locationType);
        properties.setAtIndex(JAVA_INT, 3, location);
        return properties;
    }
}
