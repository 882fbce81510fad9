package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// Generated from spec/trace.abi: one ring record of a trace. Reads and writes go straight to the mapped file.
public final class TraceRingView {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;

    private TraceRingView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record in a mapped trace.
    public static TraceRingView of(MemorySegment trace) {
        return new TraceRingView(trace.asSlice(TraceLayout.RING_OFFSET, TraceLayout.RING_BYTES));
    }

    /// Events ever written.
    public long head() {
        return (long) LONG.getAcquire(segment, 0L);
    }

    public void head(long value) {
        LONG.setRelease(segment, 0L, value);
    }
}
