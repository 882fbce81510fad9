package sluice.region;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import sluice.region.limits.LimitFields;

/// Page 0 of a mapped region, for a change of limits.
///
/// It is not a part of [Region]: the handles take milliseconds to set up, and the start of every job would wait for them.
record MappedPage(MemorySegment segment) implements LimitFields.Page {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    @Override
    public void put(int offset, int value) {
        INT.setRelease(segment, (long) offset, value);
    }

    @Override
    public void put(int offset, long value) {
        LONG.setRelease(segment, (long) offset, value);
    }
}
