package sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Device memory of the current context. A device pointer is its 64-bit value.
public record Memory(
        @Entry(since = 3020, takes = "PL") MethodHandle cuMemAlloc_v2,
        @Entry(since = 3020, takes = "PPLLI") MethodHandle cuMemAllocPitch_v2,
        @Entry(since = 6000, takes = "PLI") MethodHandle cuMemAllocManaged,
        @Entry(since = 3020, takes = "L") MethodHandle cuMemFree_v2,
        @Entry(since = 3020, takes = "PP") MethodHandle cuMemGetInfo_v2,
        @Entry(since = 2000, takes = "PP") MethodHandle cuMemGetInfo,
        @Entry(since = 11020, takes = "PLL") MethodHandle cuMemAllocAsync,
        @Entry(since = 11020, takes = "LL") MethodHandle cuMemFreeAsync,
        @Entry(since = 3020, takes = "LPL") MethodHandle cuMemcpyHtoD_v2,
        @Entry(since = 3020, takes = "PLL") MethodHandle cuMemcpyDtoH_v2,
        @Entry(since = 3020, takes = "LIL") MethodHandle cuMemsetD8_v2,
        @Entry(since = 4000, takes = "PIL") MethodHandle cuPointerGetAttribute,
        @Entry(since = 7000, takes = "IPPL") MethodHandle cuPointerGetAttributes) {

    private static final int ATTACH_GLOBAL = 1;
    private static final int MEMORY_TYPE = 2;
    private static final int IS_MANAGED = 8;

    public record Info(int status, long freeBytes, long totalBytes) {}

    public record Pitched(int status, long pointer, long pitchBytes) {}

    public CallResult allocate(long bytes) {
        return Calls.longFrom(out -> (int) cuMemAlloc_v2.invokeExact(out, bytes));
    }

    public CallResult allocateManaged(long bytes) {
        return Calls.longFrom(out -> (int) cuMemAllocManaged.invokeExact(out, bytes, ATTACH_GLOBAL));
    }

    public Pitched allocatePitched(long widthBytes, long height, int elementBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            MemorySegment pitch = arena.allocate(JAVA_LONG);
            int status = Calls.status(
                    () -> (int) cuMemAllocPitch_v2.invokeExact(pointer, pitch, widthBytes, height, elementBytes));
            return new Pitched(status, pointer.get(JAVA_LONG, 0), pitch.get(JAVA_LONG, 0));
        }
    }

    public CallResult allocateAsync(long bytes, long stream) {
        return Calls.longFrom(out -> (int) cuMemAllocAsync.invokeExact(out, bytes, stream));
    }

    /// For who measures: no allocation, no lambda.
    public int allocateAsyncInto(MemorySegment out, long bytes, long stream) {
        try {
            return (int) cuMemAllocAsync.invokeExact(out, bytes, stream);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    public int freeAsync(long pointer, long stream) {
        try {
            return (int) cuMemFreeAsync.invokeExact(pointer, stream);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    /// `out` may be NULL, to see what the driver makes of it.
    public int allocateInto(MemorySegment out, long bytes) {
        try {
            return (int) cuMemAlloc_v2.invokeExact(out, bytes);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    public int free(long pointer) {
        try {
            return (int) cuMemFree_v2.invokeExact(pointer);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    /// Both may be NULL.
    public int infoInto(MemorySegment free, MemorySegment total) {
        try {
            return (int) cuMemGetInfo_v2.invokeExact(free, total);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    public Info info() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(JAVA_LONG);
            MemorySegment total = arena.allocate(JAVA_LONG);
            return new Info(infoInto(free, total), free.get(JAVA_LONG, 0), total.get(JAVA_LONG, 0));
        }
    }

    /// Of the 32-bit API.
    public Info infoV1() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(JAVA_INT);
            MemorySegment total = arena.allocate(JAVA_INT);
            int status = Calls.status(() -> (int) cuMemGetInfo.invokeExact(free, total));
            return new Info(status,
                    Integer.toUnsignedLong(free.get(JAVA_INT, 0)), Integer.toUnsignedLong(total.get(JAVA_INT, 0)));
        }
    }

    /// Its value is 1 for managed memory.
    public CallResult isManaged(long pointer) {
        return Calls.intFrom(out -> (int) cuPointerGetAttribute.invokeExact(out, IS_MANAGED, pointer));
    }

    /// The same by the call that answers several questions at once.
    public CallResult isManagedAmongOthers(long pointer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment questions = arena.allocateFrom(JAVA_INT, MEMORY_TYPE, IS_MANAGED);
            MemorySegment answers = arena.allocate(ADDRESS, 2);
            answers.setAtIndex(ADDRESS, 0, arena.allocate(JAVA_LONG));
            return Calls.intFrom(out -> {
                answers.setAtIndex(ADDRESS, 1, out);
                return (int) cuPointerGetAttributes.invokeExact(2, questions, answers, pointer);
            });
        }
    }

    public int copyToDevice(long pointer, MemorySegment from) {
        return Calls.status(() -> (int) cuMemcpyHtoD_v2.invokeExact(pointer, from, from.byteSize()));
    }

    public int copyToHost(MemorySegment to, long pointer) {
        return Calls.status(() -> (int) cuMemcpyDtoH_v2.invokeExact(to, pointer, to.byteSize()));
    }

    public int setBytes(long pointer, int value, long count) {
        return Calls.status(() -> (int) cuMemsetD8_v2.invokeExact(pointer, value, count));
    }
}
