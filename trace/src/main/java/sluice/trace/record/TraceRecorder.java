package sluice.trace.record;

import static sluice.region.TraceLayout.EVENT_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import sluice.region.SluiceException;

/// Empties the rings of a job that runs into a folder that can be read afterwards. It takes no part in the job: when it is too
/// slow or dies the library drops events and counts them.
///
/// One thread calls [#poll] every few milliseconds, and [#close] when the trace has been switched off.
public final class TraceRecorder implements AutoCloseable {
    private static final int BUFFER_EVENTS = 1 << 14;

    private final Path source;
    private final Path target;
    private final Map<Path, LiveRing> rings = new HashMap<>();
    private final Set<Path> refused = new HashSet<>();
    private final Map<Path, Long> copied = new HashMap<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_EVENTS * EVENT_BYTES);
    private long endedEvents;
    private long endedDropped;

    /// @param source the folder in which the library makes its rings
    /// @param target the folder of the trace; both exist
    public TraceRecorder(Path source, Path target) {
        this.source = source;
        this.target = target;
    }

    /// Takes away what is there, of new threads too. Returns how many events that were.
    public long poll() {
        try {
            find();
            long events = 0;
            for (Iterator<LiveRing> all = rings.values().iterator(); all.hasNext(); ) {
                LiveRing ring = all.next();
                events += ring.take(buffer);
                if (ring.isOver()) {
                    forget(ring);
                    all.remove();
                }
            }
            return events;
        } catch (IOException e) {
            throw new SluiceException("cannot record to " + target + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    private void find() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(source)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.startsWith("ring-")) {
                    copy(file);
                } else if (!rings.containsKey(file) && !refused.contains(file) && LiveRing.isReady(file)) {
                    open(file);
                }
            }
        }
    }

    private void open(Path file) throws IOException {
        try {
            rings.put(file, new LiveRing(file, target.resolve(file.getFileName())));
        } catch (NoSuchFileException e) {
            refused.add(file);
        }
    }

    /// Names, processes and entry points: small files that only grow.
    private void copy(Path file) throws IOException {
        long bytes = Files.size(file);
        Long before = copied.put(file, bytes);
        if (before == null || before != bytes) {
            Files.copy(file, target.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private void forget(LiveRing ring) throws IOException {
        endedEvents += ring.taken();
        endedDropped += ring.dropped();
        ring.close();
        Files.deleteIfExists(ring.file());
    }

    /// Events recorded, the clock's own included.
    public long events() {
        return endedEvents + rings.values().stream().mapToLong(LiveRing::taken).sum();
    }

    public long dropped() {
        return endedDropped + rings.values().stream().mapToLong(LiveRing::dropped).sum();
    }

    /// Threads that write now.
    public int threads() {
        return rings.size();
    }

    /// Takes the rest away.
    @Override
    public void close() {
        try {
            poll();
        } finally {
            for (LiveRing ring : rings.values()) {
                try {
                    forget(ring);
                } catch (IOException e) {
                    // What was taken is in the target.
                }
            }
            rings.clear();
        }
    }
}
