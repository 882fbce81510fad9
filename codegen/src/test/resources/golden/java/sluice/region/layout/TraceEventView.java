package sluice.region.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// Generated from spec/trace.abi: one event record of a trace. Reads and writes go straight to the mapped file.
public final class TraceEventView {
    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final MemorySegment segment;

    private TraceEventView(MemorySegment segment) {
        this.segment = segment;
    }

    /// The record with this index in a mapped trace, which must have it.
    public static TraceEventView at(MemorySegment trace, long index) {
        Objects.checkIndex(index, (trace.byteSize() - TraceLayout.EVENT_OFFSET) / TraceLayout.EVENT_BYTES);
        return new TraceEventView(trace.asSlice(
                TraceLayout.EVENT_OFFSET + index * TraceLayout.EVENT_BYTES, TraceLayout.EVENT_BYTES));
    }

    /// What it is.
    public int kind() {
        return Short.toUnsignedInt((short) SHORT.get(segment, 0L));
    }

    public void kind(int value) {
        SHORT.set(segment, 0L, (short) value);
    }

    /// Which call.
    public int entry() {
        return Short.toUnsignedInt((short) SHORT.get(segment, 2L));
    }

    public void entry(int value) {
        SHORT.set(segment, 2L, (short) value);
    }

    /// See kind.
    public int a() {
        return (int) INT.get(segment, 4L);
    }

    public void a(int value) {
        INT.set(segment, 4L, value);
    }
}
