package sluice.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Pinned host memory, and copies that a stream makes. The device reaches pinned memory by its own address.
public record Transfers(
        @Entry(since = 2020, takes = "PLI") MethodHandle cuMemHostAlloc,
        @Entry(since = 3020, takes = "LLLL") MethodHandle cuMemcpyHtoDAsync_v2,
        @Entry(since = 3020, takes = "LLLL") MethodHandle cuMemcpyDtoDAsync_v2) {

    private static final int MAPPED = 2;

    public CallResult allocatePinned(long bytes) {
        return Calls.longFrom(out -> (int) cuMemHostAlloc.invokeExact(out, bytes, MAPPED));
    }

    /// Pinned memory as a segment that is never freed by Java.
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    public int copyToDevice(long pointer, long pinned, long bytes, long stream) {
        try {
            return (int) cuMemcpyHtoDAsync_v2.invokeExact(pointer, pinned, bytes, stream);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    public int copyOnDevice(long to, long from, long bytes, long stream) {
        try {
            return (int) cuMemcpyDtoDAsync_v2.invokeExact(to, from, bytes, stream);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }
}
