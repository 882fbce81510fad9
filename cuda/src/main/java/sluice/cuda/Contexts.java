package sluice.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Contexts beside the primary ones, and what a context may be told to take.
public record Contexts(
        @Entry(since = 3020, takes = "PII") MethodHandle cuCtxCreate_v2,
        @Entry(since = 4000, takes = "L") MethodHandle cuCtxDestroy_v2,
        @Entry(since = 4000, takes = "P") MethodHandle cuCtxPopCurrent_v2,
        @Entry(since = 3010, takes = "IL") MethodHandle cuCtxSetLimit,
        @Entry(since = 12040, takes = "IPI") MethodHandle cuDeviceGetDevResource,
        @Entry(since = 12040, takes = "PPI") MethodHandle cuDevResourceGenerateDesc,
        @Entry(since = 12040, takes = "PLII") MethodHandle cuGreenCtxCreate,
        @Entry(since = 12040, takes = "L") MethodHandle cuGreenCtxDestroy) {

    private static final int STACK_BYTES = 0;
    private static final int MULTIPROCESSORS = 1;
    private static final int DEFAULT_STREAM = 1;
    private static final long RESOURCE_BYTES = 256;

    /// Makes a context and makes it current.
    public CallResult create(int device) {
        return Calls.longFrom(out -> (int) cuCtxCreate_v2.invokeExact(out, 0, device));
    }

    /// Makes the context current that was before.
    public int pop() {
        return Calls.longFrom(out -> (int) cuCtxPopCurrent_v2.invokeExact(out)).status();
    }

    public int destroy(long context) {
        return Calls.status(() -> (int) cuCtxDestroy_v2.invokeExact(context));
    }

    /// A green context with all multiprocessors of a device.
    public CallResult createGreen(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment resource = arena.allocate(RESOURCE_BYTES, Long.BYTES);
            int status = Calls.status(() -> (int) cuDeviceGetDevResource.invokeExact(device, resource, MULTIPROCESSORS));
            if (status != Status.SUCCESS) {
                return new CallResult(status, 0);
            }
            CallResult described = Calls.longFrom(out -> (int) cuDevResourceGenerateDesc.invokeExact(out, resource, 1));
            return !described.ok() ? described : Calls.longFrom(
                    out -> (int) cuGreenCtxCreate.invokeExact(out, described.value(), device, DEFAULT_STREAM));
        }
    }

    public int destroyGreen(long context) {
        return Calls.status(() -> (int) cuGreenCtxDestroy.invokeExact(context));
    }

    /// How much stack each thread of a kernel may use.
    public int setStack(long bytes) {
        return Calls.status(() -> (int) cuCtxSetLimit.invokeExact(STACK_BYTES, bytes));
    }
}
