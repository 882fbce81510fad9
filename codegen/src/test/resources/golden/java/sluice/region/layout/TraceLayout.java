package sluice.region.layout;

/// Generated from spec/trace.abi: the layout of the trace's file. docs/trace-file.md explains every field.
public final class TraceLayout {
    /// Version of the layout.
    public static final int LAYOUT = 1;

    /// The first word of the file.
    public static final long MAGIC = 0x54594e4954L;

    /// Size of the file without the records that it counts itself.
    public static final long TRACE_BYTES = 4096L;

    /// Size of page 0.
    public static final int PAGE_BYTES = 4096;

    /// Tells the time.
    public static final int KIND_CLOCK = 1;

    /// A | b, both numbers.
    public static final int KIND_CALL = 2;

    /// Where the ring records lie, how large one is and how many there are.
    public static final long RING_OFFSET = 0L;
    public static final int RING_BYTES = 64;
    public static final int RING_COUNT = 1;
    public static final int RING_HEAD_OFFSET = 0;

    /// Where the event records lie and how large one is.
    public static final long EVENT_OFFSET = 4096L;
    public static final int EVENT_BYTES = 64;
    public static final int EVENT_KIND_OFFSET = 4096;
    public static final int EVENT_ENTRY_OFFSET = 4098;
    public static final int EVENT_A_OFFSET = 4100;

    private TraceLayout() {}
}
