package sluice.trace.record;

import static sluice.region.layout.TraceLayout.EVENT_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sluice.linux.FileRules;
import sluice.linux.Folder;
import sluice.linux.UnusableFileException;
import sluice.region.place.SluiceException;

/// Empties the rings of a job that runs into a folder that can be read afterwards. The job does not depend on it: if it is too slow or
/// dies, the library drops events and counts them.
///
/// One thread calls [#poll] every few milliseconds, and [#close] when the trace has been switched off.
public final class TraceRecorder implements AutoCloseable {
    private static final int BUFFER_EVENTS = 1 << 14;
    private static final String RING = "ring-";
    private static final int MOST_DAMAGE = 100;
    private static final long MOST_RING_BYTES = 1L << 31;
    private static final long MOST_TEXT_BYTES = 64L << 20;

    private final Folder source;
    private final Path target;
    private final Map<String, LiveRing> rings = new HashMap<>();
    private final Set<String> refused = new HashSet<>();
    private final List<String> damage = new ArrayList<>();
    private final Map<String, Long> copied = new HashMap<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_EVENTS * EVENT_BYTES);
    private FileRules rules;
    private long endedEvents;
    private long endedDropped;

    /// @param source the folder in which the library makes its rings
    /// @param target the folder of the trace; both exist
    public TraceRecorder(Folder source, Path target) {
        this.source = source;
        this.target = target;
    }

    /// Takes all present events out of the rings, also of new threads. Returns their number.
    public long poll() {
        try {
            find();
            long before = events();
            for (Iterator<LiveRing> all = rings.values().iterator(); all.hasNext(); ) {
                LiveRing ring = all.next();
                if (!take(ring)) {
                    all.remove();
                }
            }
            return events() - before;
        } catch (IOException e) {
            throw new SluiceException("cannot record to " + target + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// False: no event follows, or the ring cannot be read any further. In a truncated file, reading the mapped page fails.
    private boolean take(LiveRing ring) throws IOException {
        try {
            ring.take(buffer);
            if (!ring.isOver()) {
                return true;
            }
            forget(ring);
            return false;
        } catch (DamagedRingException | InternalError e) {
            refuse(ring.name(), e instanceof InternalError ? "ring " + ring.name() + " was cut" : e.getMessage());
            endedEvents += ring.taken();
            endedDropped += ring.dropped();
            ring.close();
            return false;
        }
    }

    private void refuse(String name, String why) {
        refused.add(name);
        if (damage.size() < MOST_DAMAGE) {
            damage.add(why);
        }
    }

    /// The damage of rings that were not read to their end.
    public List<String> damage() {
        return List.copyOf(damage);
    }

    private void find() throws IOException {
        rules = FileRules.of(source.status().uid(), MOST_RING_BYTES);
        for (String name : source.names(each -> true)) {
            try {
                if (!name.startsWith(RING)) {
                    copy(name);
                } else if (!rings.containsKey(name) && !refused.contains(name) && LiveRing.isReady(source, name, rules)) {
                    open(name);
                }
            } catch (UnusableFileException e) {
                refused.add(name);
            }
        }
    }

    private void open(String name) throws IOException {
        try {
            rings.put(name, new LiveRing(source, name, rules, target.resolve(name)));
        } catch (DamagedRingException e) {
            refuse(name, e.getMessage());
        } catch (InternalError e) {
            refuse(name, "ring " + name + " was cut");
        } catch (NoSuchFileException e) {
            refused.add(name);
        }
    }

    /// Names, processes and entry points: small files that only grow.
    private void copy(String name) throws IOException {
        if (refused.contains(name)) {
            return;
        }
        try {
            long bytes = source.status(name).bytes();
            Long before = copied.put(name, bytes);
            if (before == null || before != bytes) {
                Files.write(target.resolve(name), source.read(name, FileRules.of(rules.owner(), MOST_TEXT_BYTES)));
            }
        } catch (NoSuchFileException e) {
            copied.remove(name);
        }
    }

    private void forget(LiveRing ring) throws IOException {
        endedEvents += ring.taken();
        endedDropped += ring.dropped();
        ring.close();
        try {
            source.delete(ring.name());
        } catch (NoSuchFileException e) {
            // The library was faster.
        }
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

    /// Takes the remaining events.
    @Override
    public void close() {
        try {
            poll();
        } finally {
            for (LiveRing ring : rings.values()) {
                try {
                    forget(ring);
                } catch (IOException e) {
                    // The events that were taken are in the target.
                }
            }
            rings.clear();
        }
    }
}
