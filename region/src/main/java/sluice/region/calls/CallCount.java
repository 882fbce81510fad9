package sluice.region.calls;

import sluice.region.layout.CallView;

/// How often a tenant called one CUDA function, all its processes together, the ended ones too.
///
/// @param failed     those of the calls that came back with an error
/// @param timedCalls those that were timed: of quick calls only a sample is
/// @param nanos      how long they took on the host, waits at the gate included
/// @param bytes      what those without an error asked to copy, set or allocate
public record CallCount(String name, CallKind kind, long calls, long failed, long timedCalls, long nanos, long longestNanos, long bytes) {
    public boolean estimated() {
        return timedCalls < calls;
    }

    public long done() {
        return calls - failed;
    }

    public long meanNanos() {
        return calls == 0 ? 0 : nanos / calls;
    }

    CallCount plus(CallView call) {
        return new CallCount(name, kind, calls + call.calls(), failed + call.failed(),
                timedCalls + call.timedCalls() + call.sampledCalls(), nanos + nanos(call), Math.max(longestNanos, call.longestNanos()), bytes + call.bytes());
    }

    private static long nanos(CallView call) {
        long others = Math.max(call.calls() - call.timedCalls(), call.sampledCalls());
        double mean = call.sampledCalls() == 0 ? 0 : (double) call.sampledNanos() / call.sampledCalls();
        return call.timedNanos() + Math.round(mean * others);
    }
}
