package sluice.cuda;

import java.lang.invoke.MethodHandle;

/// Contexts beside the primary ones, and what a context may be told to take.
public record Contexts(
        @Entry(since = 3020, takes = "PII") MethodHandle cuCtxCreate_v2,
        @Entry(since = 4000, takes = "L") MethodHandle cuCtxDestroy_v2,
        @Entry(since = 4000, takes = "P") MethodHandle cuCtxPopCurrent_v2,
        @Entry(since = 3010, takes = "IL") MethodHandle cuCtxSetLimit,
        @Entry(since = 3010, takes = "PI") MethodHandle cuCtxGetLimit) {

    private static final int STACK_BYTES = 0;

    /// Makes a context and makes it current.
    public Answer create(int device) {
        return Calls.longFrom(out -> (int) cuCtxCreate_v2.invokeExact(out, 0, device));
    }

    /// Makes the context current that was before.
    public int pop() {
        return Calls.longFrom(out -> (int) cuCtxPopCurrent_v2.invokeExact(out)).status();
    }

    public int destroy(long context) {
        return Calls.status(() -> (int) cuCtxDestroy_v2.invokeExact(context));
    }

    /// How much stack each thread of a kernel may use.
    public int setStack(long bytes) {
        return Calls.status(() -> (int) cuCtxSetLimit.invokeExact(STACK_BYTES, bytes));
    }

    public Answer stackBytes() {
        return Calls.longFrom(out -> (int) cuCtxGetLimit.invokeExact(out, STACK_BYTES));
    }
}
