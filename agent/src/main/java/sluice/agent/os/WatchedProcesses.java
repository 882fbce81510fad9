package sluice.agent.os;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.linux.Pidfd;
import sluice.region.place.Identity;
import sluice.region.place.Processes;

/// Knows which processes live without asking about each: a pidfd reports the end of its process, and one call polls all of them. An execve
/// is not reported, so it is looked up once a second.
public final class WatchedProcesses implements Processes, AutoCloseable {
    private static final long IMAGE_NANOS = 1_000_000_000L;
    private static final long FORGET_NANOS = 10_000_000_000L;
    /// For more processes than this the kernel is asked every time. The usual limit of open files is 1024.
    private static final int MOST_WATCHED = 512;

    private final Map<Key, Watched> watched = new HashMap<>();
    private final Map<Long, String> commandLines = new HashMap<>();

    private record Key(long identity, long image) {}

    private static final class Watched {
        private long identity;
        private Optional<Pidfd> descriptor;
        private boolean alive;
        private long checkedNanos;
        private long askedNanos;
    }

    /// Asks for all ends since the last time. @return whether there was any
    public synchronized boolean poll() {
        List<Watched> living = watched.values().stream().filter(each -> each.alive && each.descriptor.isPresent()).toList();
        List<Integer> ended = Pidfd.ended(living.stream().map(each -> each.descriptor.orElseThrow()).toList());
        ended.forEach(at -> end(living.get(at)));
        forget(System.nanoTime());
        return !ended.isEmpty();
    }

    private void forget(long now) {
        watched.values().removeIf(each -> {
            boolean unused = now - each.askedNanos > FORGET_NANOS;
            if (unused) {
                end(each);
            }
            return unused;
        });
    }

    private void end(Watched each) {
        each.alive = false;
        commandLines.remove(each.identity);
        each.descriptor.ifPresent(Pidfd::close);
        each.descriptor = Optional.empty();
    }

    @Override
    public synchronized boolean isAlive(Identity process, long image) {
        long now = System.nanoTime();
        Key key = new Key(process.word(), image);
        Watched known = watched.get(key);
        if (known == null) {
            known = watch(process, image, now);
            watched.put(key, known);
        }
        known.askedNanos = now;
        if (known.alive && (known.descriptor.isEmpty() || image != 0 && now - known.checkedNanos > IMAGE_NANOS)) {
            known.checkedNanos = now;
            if (!BY_PROC.isAlive(process, image)) {
                end(known);
            }
        }
        return known.alive;
    }

    /// Opens the descriptor before it reads the process, so both are of the same process.
    private Watched watch(Identity process, long image, long now) {
        Watched added = new Watched();
        added.identity = process.word();
        added.descriptor = watched.size() < MOST_WATCHED ? Pidfd.open(process.pid()) : Optional.empty();
        added.alive = true;
        added.checkedNanos = now;
        if (!BY_PROC.isAlive(process, image)) {
            end(added);
        }
        return added;
    }

    /// A program may change its command line while it runs; that is not followed. In the middle of execve it has none yet.
    @Override
    public synchronized String commandLine(Identity process) {
        String line = commandLines.computeIfAbsent(process.word(), asked -> BY_PROC.commandLine(process));
        commandLines.remove(process.word(), "");
        return line;
    }

    @Override
    public synchronized void close() {
        watched.values().forEach(this::end);
        watched.clear();
        commandLines.clear();
    }
}
