package sluice.trace.record;

import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sluice.linux.FileRules;
import sluice.linux.Folder;
import sluice.linux.UnusableFileException;
import sluice.region.layout.TraceProcessView;
import sluice.region.layout.TraceReaderView;
import sluice.region.layout.TraceRingView;
import sluice.region.layout.TraceWriterView;
import sluice.region.place.Identity;

/// A ring that a thread still writes to, and the file that its events go to: a ring of the same form that needs no recorder.
///
/// Only the first page is mapped. Events are read as a file, after `head` was read with acquire; then `tail` is stored with
/// release, and the thread may use their places again.
final class LiveRing implements AutoCloseable {
    private static final long MOST_EVENTS = 1L << 30;
    private static final long MOST_DROPPED = 1L << 48;

    private final String name;
    private final FileChannel source;
    private final FileChannel target;
    private final Arena arena = Arena.ofShared();
    private final TraceRingView ring;
    private final TraceWriterView writer;
    private final TraceReaderView reader;
    private final TraceProcessView process;
    private final long capacity;
    private final ByteBuffer word = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long tail;
    private long taken;
    private long lost;
    private long roomInTarget;

    /// @param targetFile the file to make; if the name exists, it gets a number
    LiveRing(Folder folder, String name, FileRules rules, Path targetFile) throws IOException {
        this.name = name;
        source = folder.open(name, rules, StandardOpenOption.READ, StandardOpenOption.WRITE);
        MemorySegment page = source.map(MapMode.READ_WRITE, 0, PAGE_BYTES, arena);
        ring = TraceRingView.of(page);
        writer = TraceWriterView.of(page);
        reader = TraceReaderView.of(page);
        process = TraceProcessView.of(page);
        capacity = ring.capacity();
        tail = reader.tail();
        if (capacity <= 0 || Long.bitCount(capacity) != 1 || capacity > MOST_EVENTS) {
            arena.close();
            source.close();
            throw new DamagedRingException("ring " + name + " says that it has room for " + capacity + " events");
        }
        target = FileChannel.open(free(targetFile), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        target.write(page.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN), 0);
        put(READER_TAIL_OFFSET, 0);
        put(WRITER_DROPPED_OFFSET, 0);
        put(PROCESS_STRAYS_OFFSET, 0);
        put(WRITER_HEAD_OFFSET, 0);
        makeRoom(1);
    }

    private static Path free(Path wanted) {
        Path path = wanted;
        for (int number = 2; Files.exists(path); number++) {
            path = wanted.resolveSibling(wanted.getFileName() + "." + number);
        }
        return path;
    }

    /// Whether a file is a ring that is complete.
    static boolean isReady(Folder folder, String name, FileRules rules) throws UnusableFileException {
        try (FileChannel channel = folder.open(name, rules, StandardOpenOption.READ)) {
            ByteBuffer start = ByteBuffer.allocate(RING_LAYOUT_OFFSET + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            return channel.size() >= PAGE_BYTES && channel.read(start, 0) == start.capacity()
                    && start.getLong(RING_MAGIC_OFFSET) == MAGIC && start.getInt(RING_LAYOUT_OFFSET) == LAYOUT;
        } catch (UnusableFileException e) {
            throw e;
        } catch (IOException e) {
            return false;
        }
    }

    String name() {
        return name;
    }

    /// Takes all present events out of the ring. Returns their number.
    ///
    /// The thread can write all of the page. So `tail` is this recorder's own number, and `head` is read once and checked.
    long take(ByteBuffer buffer) throws IOException {
        long head = writer.head();
        long count = head - tail;
        if (count < 0 || count > capacity) {
            throw new DamagedRingException("ring " + name + " says that it has events " + tail + " to " + head + " of " + capacity);
        }
        while (tail < head) {
            long at = tail & capacity - 1;
            long events = Math.min(buffer.capacity() / EVENT_BYTES, Math.min(head - tail, capacity - at));
            copy(buffer.clear().limit((int) events * EVENT_BYTES), PAGE_BYTES + at * EVENT_BYTES);
            tail += events;
            reader.tail(tail);
        }
        if (count > 0) {
            makeRoom(taken);
            put(WRITER_HEAD_OFFSET, taken);
        }
        keepDropped();
        return count;
    }

    private void copy(ByteBuffer buffer, long from) throws IOException {
        long at = from;
        while (buffer.hasRemaining()) {
            int read = source.read(buffer, at);
            if (read < 0) {
                throw new DamagedRingException("ring " + name + " was cut");
            }
            at += read;
        }
        buffer.flip();
        long to = PAGE_BYTES + taken * EVENT_BYTES;
        taken += buffer.remaining() / EVENT_BYTES;
        while (buffer.hasRemaining()) {
            to += target.write(buffer, to);
        }
    }

    /// The target is as large as the next power of two; its unwritten part takes no space.
    private void makeRoom(long events) throws IOException {
        if (events > roomInTarget) {
            roomInTarget = Math.max(capacity, Long.highestOneBit(events) << 1);
            put(RING_CAPACITY_OFFSET, roomInTarget);
        }
    }

    private void keepDropped() throws IOException {
        long dropped = writer.dropped();
        long strays = process.strays();
        long now = dropped + strays;
        if (dropped >= 0 && strays >= 0 && now > lost && now < MOST_DROPPED) {
            lost = now;
            put(WRITER_DROPPED_OFFSET, dropped);
            put(PROCESS_STRAYS_OFFSET, strays);
        }
    }

    private void put(long offset, long value) throws IOException {
        target.write(word.clear().putLong(0, value), offset);
    }

    /// Events that the library could not write here.
    long dropped() {
        return lost;
    }

    long taken() {
        return taken;
    }

    /// Whether no event can follow. The first ring of a process counts events of its other threads as long as the process lives. If a ring
    /// was not closed, the recorder cannot know: its process may be in another pid namespace.
    boolean isOver() {
        long closed = writer.closed();
        return closed != 0 && closed != CLOSED_SPACE && writer.head() == tail
                && (process.rings() == 0 || !new Identity(ring.identity()).isAlive());
    }

    @Override
    public void close() throws IOException {
        arena.close();
        source.close();
        target.close();
    }
}
