package sluice.trace.read;

import static sluice.region.TraceLayout.*;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import sluice.region.SluiceException;

/// The file of one thread's events, read as it was when it was opened. Its events have the numbers from `first()` up to
/// `end()`. It is read, not mapped: what a stranger's process cuts off is an error here, not a signal.
final class RingFile implements Closeable {
    private static final int NAME_BYTES = RING_PROCESS_OFFSET - RING_THREAD_OFFSET;

    private final Path path;
    private final FileChannel channel;
    private final ByteBuffer header = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final long capacity;
    private final long first;
    private final long end;

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
        capacity = header.getLong(RING_CAPACITY_OFFSET);
        long head = header.getLong(WRITER_HEAD_OFFSET);
        long tail = header.getLong(READER_TAIL_OFFSET);
        long present = Math.min(capacity, (channel.size() - PAGE_BYTES) / EVENT_BYTES);
        if (Long.bitCount(capacity) != 1 || tail < 0 || head < tail || head - tail > capacity || head < capacity && head > present) {
            throw new SluiceException("ring " + path + " is damaged (events " + tail + " to " + head + " of " + capacity
                    + ", " + present + " in the file); delete it to read the others");
        }
        first = tail;
        end = head;
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
        return header.getInt(RING_PID_OFFSET);
    }

    int tid() {
        return header.getInt(RING_TID_OFFSET);
    }

    String threadName() {
        return text(RING_THREAD_OFFSET);
    }

    /// Ends the names of the files about its process.
    String process() {
        return text(RING_PROCESS_OFFSET);
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
        return header.getLong(WRITER_DROPPED_OFFSET) + header.getLong(PROCESS_STRAYS_OFFSET);
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
