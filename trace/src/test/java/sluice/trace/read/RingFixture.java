package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Writes the files of a trace as the library does. A tick is half a nanosecond, and tick 0 was at nanosecond [#ZERO_NANOS].
public final class RingFixture {
    static final long ZERO_NANOS = 1_000_000;
    public static final long WALL_AHEAD_NANOS = 1_700_000_000_000_000_000L;
    static final String DIGEST = "00c0ffee";

    private final Path folder;
    private final int pid;
    private final int tid;
    private final ByteArrayOutputStream events = new ByteArrayOutputStream();
    private final ByteBuffer event = ByteBuffer.allocate(EVENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long head;
    private long tail;
    private long dropped;
    private long capacity = 1 << 16;
    private int layout = LAYOUT;

    public RingFixture(Path folder, int pid, int tid) {
        this.folder = folder;
        this.pid = pid;
        this.tid = tid;
    }

    public static long nanos(long ticks) {
        return ZERO_NANOS + ticks / 2;
    }

    public static void process(Path folder, int pid, String... lines) throws IOException {
        Files.writeString(folder.resolve("process-" + pid), "entries=" + DIGEST + "\n" + String.join("\n", lines) + "\n");
    }

    public static void name(Path folder, int pid, long id, String name) throws IOException {
        Files.writeString(folder.resolve("names-" + pid), id + "\t" + name + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /// Names entry points 1, 2, 3, …
    public static void entries(Path folder, String... names) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int at = 0; at < names.length; at++) {
            lines.append(at + 1).append('\t').append(names[at]).append('\n');
        }
        Files.writeString(folder.resolve("entries-" + DIGEST), lines);
    }

    public RingFixture clock(long ticks) {
        return event(KIND_CLOCK, 0, 0, ticks, ticks, 0, nanos(ticks), nanos(ticks) + WALL_AHEAD_NANOS, 0, 0);
    }

    public RingFixture call(int entry, int status, long begin, long end, long stream, long bytes, TraceEvent.Direction direction) {
        return event(KIND_CALL, entry, status, begin, end, stream, bytes, 0, direction.ordinal(), 0);
    }

    public RingFixture memory(int entry, long begin, long end, long bytes, long usedBytes) {
        return event(KIND_CALL, entry, 0, begin, end, 0, bytes, usedBytes, 1 << 8, 0);
    }

    public RingFixture kernel(int entry, long begin, long end, long stream, long name) {
        return event(KIND_KERNEL, entry, 0, begin, end, stream, name, 64 | 2L << 32 | 3L << 48, 256 | 4L << 16 | 1L << 32, 48);
    }

    public RingFixture wait(long begin, long end, TraceEvent.Reason reason) {
        return event(KIND_WAIT, 0, 0, begin, end, 0, reason.ordinal(), 0, 0, 0);
    }

    public RingFixture turn(long begin, long end) {
        return event(KIND_TURN, 0, 0, begin, end, 0, 0, 0, 0, 0);
    }

    public RingFixture batch(long begin, long end, long calls, long chargedNanos) {
        return event(KIND_BATCH, 0, 0, begin, end, 0, calls, chargedNanos, 100, 0);
    }

    public RingFixture cost(long at, long name, long nanos, long launches) {
        return event(KIND_COST, SAMPLE_ALONE, 10 | 10 << 16, at, at, 128, name, nanos, launches, 256);
    }

    public RingFixture range(long begin, long end, long name, int depth) {
        return event(KIND_RANGE, 0, 0, begin, end, 0, name, depth, 0, 0);
    }

    public RingFixture mark(long at, long name) {
        return event(KIND_MARK, 0, 0, at, at, 0, name, 0, 0, 0);
    }

    RingFixture event(int kind, int entry, int status, long begin, long end, long stream, long a, long b, long c, long d) {
        event.clear().putLong(begin).putLong(end).putShort((short) kind).putShort((short) entry).putInt(status)
                .putLong(stream).putLong(a).putLong(b).putLong(c).putLong(d);
        events.write(event.array(), 0, EVENT_BYTES);
        head++;
        return this;
    }

    public RingFixture dropped(long count) {
        dropped = count;
        return this;
    }

    RingFixture layout(int number) {
        layout = number;
        return this;
    }

    /// A ring of which a reader took the first events away: their places were used again.
    public RingFixture wrapped(long events, long taken) {
        capacity = events;
        tail = taken;
        return this;
    }

    public Path write() throws IOException {
        ByteBuffer header = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(RING_MAGIC_OFFSET, MAGIC).putInt(RING_LAYOUT_OFFSET, layout)
                .putInt(RING_PAGE_BYTES_OFFSET, PAGE_BYTES).putInt(RING_EVENT_BYTES_OFFSET, EVENT_BYTES)
                .putLong(RING_CAPACITY_OFFSET, capacity).putInt(RING_PID_OFFSET, pid).putInt(RING_TID_OFFSET, tid)
                .put(RING_THREAD_OFFSET, ("worker " + tid).getBytes(StandardCharsets.UTF_8))
                .put(RING_PROCESS_OFFSET, Integer.toString(pid).getBytes(StandardCharsets.UTF_8))
                .putLong(RING_CREATED_TICKS_OFFSET, 2).putLong(RING_CREATED_MONOTONIC_NANOS_OFFSET, nanos(2))
                .putLong(RING_CREATED_NANOS_OFFSET, nanos(2) + WALL_AHEAD_NANOS)
                .putLong(WRITER_HEAD_OFFSET, head).putLong(READER_TAIL_OFFSET, tail).putLong(WRITER_DROPPED_OFFSET, dropped);
        byte[] written = events.toByteArray();
        int places = (int) Math.min(capacity, head) * EVENT_BYTES;
        byte[] kept = new byte[places];
        for (int at = 0; at < written.length; at += EVENT_BYTES) {
            System.arraycopy(written, at, kept, at % Math.max(1, places), EVENT_BYTES);
        }
        Path file = folder.resolve("ring-" + pid + "-" + tid);
        Files.write(file, header.array());
        Files.write(file, kept, StandardOpenOption.APPEND);
        return file;
    }
}
