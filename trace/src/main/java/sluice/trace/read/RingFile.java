package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.region.place.SluiceException;

/// The file of one thread's events, as it was when it was opened. Its events have the numbers from `first()` up to `end()`. It is read,
/// not mapped: if another user's process truncates it, reading fails without a signal.
final class RingFile implements Closeable {
    private static final int NAME_BYTES = RING_PROCESS_OFFSET - RING_THREAD_OFFSET;
    private static final Pattern NAME = Pattern.compile("ring-(\\d{1,9})-(\\d{1,9})([.-].*)?");
    private static final long MOST_EVENTS = 1L << 30;
    private static final long MOST_DROPPED = 1L << 48;

    private final Path path;
    private final FileChannel channel;
    private final ByteBuffer header = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final long capacity;
    private final long first;
    private final long end;
    private final int pid;
    private final int tid;
    private final long dropped;
    private final List<TraceDamage> damage = new ArrayList<>();

    private RingFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        if (!fill(header, 0) || header.getLong(RING_MAGIC_OFFSET) != MAGIC) {
            throw new SluiceException(path + " is no ring of a trace; give the folder that a trace was recorded to");
        }
        int layout = header.getInt(RING_LAYOUT_OFFSET);
        if (layout != LAYOUT || header.getInt(RING_EVENT_BYTES_OFFSET) != EVENT_BYTES) {
            throw new SluiceException("ring " + path + " has layout " + layout + ", this sluice reads layout " + LAYOUT
                    + "; use the sluice that recorded it");
        }
        long places = header.getLong(RING_CAPACITY_OFFSET);
        long head = header.getLong(WRITER_HEAD_OFFSET);
        long tail = header.getLong(READER_TAIL_OFFSET);
        long present = Math.min(MOST_EVENTS, (channel.size() - PAGE_BYTES) / EVENT_BYTES);
        boolean sane = places > 0 && Long.bitCount(places) == 1 && tail >= 0 && head >= tail && head - tail <= places;
        if (sane && (head <= present || places <= present)) {
            capacity = places;
            first = tail;
            end = head;
        } else {
            // The header is damaged, so this reads all events of the file: each has its own times.
            capacity = Math.max(1, Long.highestOneBit(present) << 1);
            first = sane && head < places ? Math.min(tail, present) : 0;
            end = present;
            damage(sane ? "is cut" : "is damaged (events " + tail + " to " + head + " of " + places + ", " + present + " in the file)",
                    sane ? Math.max(0, head - tail - (end - first)) : TraceDamage.UNKNOWN);
        }
        Matcher named = NAME.matcher(path.getFileName().toString());
        boolean known = named.matches();
        pid = known ? Integer.parseInt(named.group(1)) : header.getInt(RING_PID_OFFSET);
        tid = known ? Integer.parseInt(named.group(2)) : header.getInt(RING_TID_OFFSET);
        if (pid != header.getInt(RING_PID_OFFSET) || tid != header.getInt(RING_TID_OFFSET)) {
            damage("says that it is the ring of another thread", 0);
        }
        dropped = counted(WRITER_DROPPED_OFFSET) + counted(PROCESS_STRAYS_OFFSET);
    }

    private long counted(int offset) {
        long count = header.getLong(offset);
        if (count >= 0 && count < MOST_DROPPED) {
            return count;
        }
        damage("does not tell how many events were dropped", 0);
        return 0;
    }

    private void damage(String what, long lost) {
        damage.add(new TraceDamage(path.getFileName().toString(), what, lost));
    }

    List<TraceDamage> damage() {
        return damage;
    }

    /// The ring; empty when it was never finished.
    static Optional<RingFile> open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        try {
            ByteBuffer layout = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (channel.read(layout, RING_LAYOUT_OFFSET) < Integer.BYTES || layout.getInt(0) == 0) {
                channel.close();
                return Optional.empty();
            }
            return Optional.of(new RingFile(path, channel));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    Path path() {
        return path;
    }

    int pid() {
        return pid;
    }

    int tid() {
        return tid;
    }

    /// When it was made: ticks, CLOCK_MONOTONIC and the wall clock.
    long[] created() {
        return new long[] {header.getLong(RING_CREATED_TICKS_OFFSET), header.getLong(RING_CREATED_MONOTONIC_NANOS_OFFSET),
            header.getLong(RING_CREATED_NANOS_OFFSET)};
    }

    String threadName() {
        return text(RING_THREAD_OFFSET);
    }

    /// Ends the names of the files about its process.
    String process() {
        String process = text(RING_PROCESS_OFFSET);
        return process.matches("\\d{1,9}(-\\d{1,9})?") ? process : Integer.toString(pid);
    }

    private String text(int at) {
        byte[] name = new byte[NAME_BYTES];
        header.get(at, name);
        int length = 0;
        while (length < name.length && name[length] != 0) {
            length++;
        }
        return new String(name, 0, length, StandardCharsets.UTF_8);
    }

    /// Events that found no room; of a process's first ring also those of threads that could get no ring.
    long dropped() {
        return dropped;
    }

    /// Number of the first event.
    long first() {
        return first;
    }

    /// One more than the number of the last event.
    long end() {
        return end;
    }

    /// Reads events into a buffer, as many as fit and lie side by side, and returns how many.
    int read(long number, ByteBuffer buffer) throws IOException {
        long at = number & capacity - 1;
        long events = Math.min(buffer.capacity() / EVENT_BYTES, Math.min(end - number, capacity - at));
        buffer.clear().limit((int) events * EVENT_BYTES);
        if (!fill(buffer, PAGE_BYTES + at * EVENT_BYTES)) {
            throw new SluiceException("ring " + path + " was cut while it was read; read it when nobody changes it");
        }
        return (int) events;
    }

    private boolean fill(ByteBuffer buffer, long position) throws IOException {
        long at = position;
        while (buffer.hasRemaining()) {
            int read = channel.read(buffer, at);
            if (read < 0) {
                return false;
            }
            at += read;
        }
        buffer.flip();
        return true;
    }

    static ByteBuffer buffer(int events) {
        return ByteBuffer.allocateDirect(events * EVENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
