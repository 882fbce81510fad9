package sluice.trace.record;

import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sluice.region.layout.TraceProcessView;
import sluice.region.layout.TraceReaderView;
import sluice.region.layout.TraceRingView;
import sluice.region.layout.TraceWriterView;
import sluice.trace.read.RingEvent;

/// A thread of a job, as the library records it: never waits, drops what does not fit.
final class LiveWriter implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment file;
    private final TraceWriterView writer;
    private final TraceReaderView reader;
    private final long capacity;
    private long ticks;

    LiveWriter(Path folder, int pid, int tid, long capacity) throws IOException {
        this.capacity = capacity;
        try (FileChannel channel = FileChannel.open(folder.resolve("ring-" + pid + "-" + tid), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file = channel.map(MapMode.READ_WRITE, 0, EVENT_OFFSET + capacity * EVENT_BYTES, arena);
        }
        writer = TraceWriterView.of(file);
        reader = TraceReaderView.of(file);
        TraceRingView ring = TraceRingView.of(file);
        ring.magic(MAGIC);
        ring.pageBytes(PAGE_BYTES);
        ring.eventBytes(EVENT_BYTES);
        ring.capacity(capacity);
        ring.pid(pid);
        ring.tid(tid);
        ring.process(Integer.toString(pid));
        ring.layout(LAYOUT);
    }

    /// Whether the call was written, and not dropped.
    boolean call(long bytes) {
        long head = writer.head();
        if (head - reader.tail() == capacity) {
            writer.addDropped(1);
            return false;
        }
        MemorySegment event = file.asSlice(EVENT_OFFSET + (head & capacity - 1) * EVENT_BYTES, EVENT_BYTES);
        event.setAtIndex(ValueLayout.JAVA_LONG, RingEvent.BEGIN, ++ticks);
        event.setAtIndex(ValueLayout.JAVA_LONG, RingEvent.END, ticks);
        event.setAtIndex(ValueLayout.JAVA_LONG, RingEvent.WHAT, KIND_CALL);
        event.setAtIndex(ValueLayout.JAVA_LONG, RingEvent.A, bytes);
        writer.head(head + 1);
        return true;
    }

    /// Calls of threads of this process that have no ring.
    void strays(long calls) {
        TraceProcessView.of(file).addStrays(calls);
    }

    void end() {
        writer.closed(CLOSED_THREAD);
    }

    @Override
    public void close() {
        arena.close();
    }
}
