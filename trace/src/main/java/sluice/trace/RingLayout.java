package sluice.trace;

/// Where things lie in a ring.
final class RingLayout {
    static final long MAGIC = 0x45434152544c53L;
    static final int LAYOUT = 1;
    static final int HEADER_BYTES = 4096;
    static final int EVENT_BYTES = 64;
    static final int EVENT_WORDS = EVENT_BYTES / Long.BYTES;

    static final int MAGIC_AT = 0;
    static final int LAYOUT_AT = 8;
    static final int EVENT_BYTES_AT = 12;
    static final int CAPACITY_AT = 16;
    static final int PID_AT = 24;
    static final int TID_AT = 28;
    static final int NAME_AT = 32;
    static final int NAME_BYTES = 32;
    static final int HEAD_AT = 1024;
    static final int TAIL_AT = 1088;
    static final int DROPPED_AT = 1152;

    private RingLayout() {}
}
