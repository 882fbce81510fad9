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
    static final int PAGE_BYTES_AT = 12;
    static final int EVENT_BYTES_AT = 16;
    static final int MODE_AT = 20;
    static final int CAPACITY_AT = 24;
    static final int PID_AT = 32;
    static final int TID_AT = 36;
    static final int IDENTITY_AT = 40;
    static final int THREAD_AT = 80;
    static final int PROCESS_AT = 112;
    static final int NAME_BYTES = 32;
    static final int HEAD_AT = 256;
    static final int DROPPED_AT = 264;
    static final int CLOSED_AT = 272;
    static final int TAIL_AT = 320;
    static final int STRAYS_AT = 384;

    private RingLayout() {}
}
