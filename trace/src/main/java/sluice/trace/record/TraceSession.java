package sluice.trace.record;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import sluice.linux.Folder;
import sluice.region.Tenant;
import sluice.region.TraceRequest;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// Records a tenant that runs, for a time: asks its libraries for rings, empties them, and tells them to stop.
///
/// @param region file of the tenant's region; the rings are made in the same folder, which is in memory
/// @param target folder of the trace, which exists
/// @param events events that a ring has room for; 0 = the default
public record TraceSession(Path region, Path target, Duration duration, int events) {
    private static final String PREFIX = "trace-";
    private static final long GRACE_NANOS = 2_000_000_000L;
    private static final long SHORT_PAUSE_NANOS = 500_000;
    private static final long PAUSE_NANOS = 4_000_000;
    private static final long LOOK_NANOS = 100_000_000;
    private static final long LAST_CALLS_NANOS = 100_000_000;

    /// Receives the progress about ten times a second.
    public interface Watcher {
        void at(long elapsedNanos, long events, long dropped);
    }

    /// The result of a recording.
    public record Outcome(long events, long dropped, long elapsedNanos, boolean ended, List<String> damage) {}

    /// Records until the time is over, the tenant has ended, or it is told to stop.
    public Outcome run(BooleanSupplier stop, Watcher watcher) {
        Path path = region.toAbsolutePath().getParent();
        String name = PREFIX + Long.toUnsignedString(Identity.self().word());
        try (Folder folder = Folder.open(path)) {
            sweep(folder);
            try (Folder rings = make(folder, name)) {
                return record(rings, stop, watcher);
            } finally {
                delete(folder, name);
            }
        } catch (IOException e) {
            throw new SluiceException("cannot make " + path.resolve(name) + " (" + SluiceException.reason(e) + ") for the rings of the trace", e);
        }
    }

    private Outcome record(Folder rings, BooleanSupplier stop, Watcher watcher) {
        long begin = System.nanoTime();
        long number = TraceRequest.ring(rings.path(), events, begin + duration.toNanos() + GRACE_NANOS).begin(region);
        TraceRecorder recorder = new TraceRecorder(rings, target);
        boolean ended = false;
        try {
            ended = follow(recorder, begin, stop, watcher);
        } finally {
            TraceRequest.end(region, number);
            long last = System.nanoTime() + LAST_CALLS_NANOS;
            while (!ended && recorder.threads() > 0 && System.nanoTime() < last) {
                recorder.poll();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            recorder.close();
        }
        return new Outcome(recorder.events(), recorder.dropped(), System.nanoTime() - begin, ended, recorder.damage());
    }

    /// Returns whether the tenant has ended.
    private boolean follow(TraceRecorder recorder, long begin, BooleanSupplier stop, Watcher watcher) {
        long nextLook = begin;
        while (!stop.getAsBoolean()) {
            long events = recorder.poll();
            long now = System.nanoTime();
            if (now - begin >= duration.toNanos()) {
                return false;
            }
            if (now >= nextLook) {
                nextLook = now + LOOK_NANOS;
                watcher.at(now - begin, recorder.events(), recorder.dropped());
                if (!lives()) {
                    return true;
                }
            }
            LockSupport.parkNanos(events == 0 ? PAUSE_NANOS : SHORT_PAUSE_NANOS);
        }
        return false;
    }

    private boolean lives() {
        try {
            return Tenant.read(region).state().lives();
        } catch (SluiceException e) {
            return false;
        }
    }

    /// The folder belongs to the user of the tenant, whose libraries make the rings, also when root records.
    private static Folder make(Folder parent, String name) throws IOException {
        parent.makeFolder(name, 0700);
        Folder rings = parent.folder(name);
        rings.give(parent.status().uid());
        return rings;
    }

    /// Rings of a recorder that died.
    private static void sweep(Folder folder) {
        for (String name : folder.names(each -> each.startsWith(PREFIX))) {
            String word = name.substring(PREFIX.length());
            if (word.matches("\\d{1,19}") && !new Identity(Long.parseUnsignedLong(word)).isAlive()) {
                delete(folder, name);
            }
        }
    }

    private static void delete(Folder parent, String name) {
        try {
            try (Folder rings = parent.folder(name)) {
                for (String file : rings.names(each -> true)) {
                    rings.delete(file);
                }
            }
            parent.deleteFolder(name);
        } catch (IOException e) {
            // The next recorder sweeps it.
        }
    }
}
