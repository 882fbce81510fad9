package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

/// The words of an event in a ring. Kind, entry and status share one.
public final class RingEvent {
    /// The word of a place that was never written.
    static final int NO_KIND = 0;
    static final int WORDS = EVENT_BYTES / Long.BYTES;
    public static final int BEGIN = word(EVENT_BEGIN_TICKS_OFFSET);
    public static final int END = word(EVENT_END_TICKS_OFFSET);
    public static final int WHAT = word(EVENT_KIND_OFFSET);
    static final int STREAM = word(EVENT_STREAM_OFFSET);
    public static final int A = word(EVENT_A_OFFSET);
    static final int B = word(EVENT_B_OFFSET);
    static final int C = word(EVENT_C_OFFSET);
    static final int D = word(EVENT_D_OFFSET);

    private RingEvent() {}

    private static int word(int offset) {
        return (int) (offset - EVENT_OFFSET) / Long.BYTES;
    }

    static int kind(long what) {
        return (int) (what & 0xffff);
    }

    static int entry(long what) {
        return (int) (what >>> 16 & 0xffff);
    }

    static int status(long what) {
        return (int) (what >> 32);
    }
}
