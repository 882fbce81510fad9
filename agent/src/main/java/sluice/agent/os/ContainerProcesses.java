package sluice.agent.os;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// The processes of each container. It reads all processes of the machine, so it does that at most a few times a second, for all callers
/// together.
public final class ContainerProcesses {
    private static final long APART_NANOS = 100_000_000;

    private Map<String, Set<Long>> seen = Map.of();
    private long lookedNanos = System.nanoTime() - APART_NANOS;

    /// The pids of the container with this name, at most a tenth of a second old.
    public Set<Long> of(String containerName) {
        if (System.nanoTime() - lookedNanos >= APART_NANOS) {
            look();
        }
        return seen.getOrDefault(containerName, Set.of());
    }

    private void look() {
        Map<String, Set<Long>> found = new HashMap<>();
        ProcessHandle.allProcesses().mapToLong(ProcessHandle::pid).forEach(pid -> RegisteringPeer.containerNameOf(pid)
                .ifPresent(name -> found.computeIfAbsent(name, made -> new HashSet<>()).add(pid)));
        seen = found;
        lookedNanos = System.nanoTime();
    }
}
