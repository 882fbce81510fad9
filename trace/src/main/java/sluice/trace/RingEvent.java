package sluice.trace;

/// The words of an event in a ring, as the library writes them.
final class RingEvent {
    static final int BEGIN = 0;
    static final int END = 1;
    /// Kind in the lowest 16 bits, entry in the next 16, status in the upper 32.
    static final int WHAT = 2;
    static final int STREAM = 3;
    static final int A = 4;
    static final int B = 5;
    static final int C = 6;
    static final int D = 7;

    static final int CLOCK = 1;
    static final int CALL = 2;
    static final int KERNEL = 3;
    static final int WAIT = 4;
    static final int TURN = 5;
    static final int BATCH = 6;
    static final int COST = 7;
    static final int RANGE = 8;
    static final int MARK = 9;

    private RingEvent() {}

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
