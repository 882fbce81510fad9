package sluice.agent.reservoir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// How much memory of the host this process may still take: the least of the machine's available memory and the rest of each control group
/// above it. A twentieth is left to others.
final class HostMemory {
    private static final String AVAILABLE = "MemAvailable:";
    private static final String OF_GROUP = "0::";
    private static final long KIB = 1024;

    private final Path root;

    /// @param root in front of /proc and /sys
    HostMemory(Path root) {
        this.root = root;
    }

    long freeBytes() {
        long free = available();
        for (Path group = group(); group != null && group.startsWith(root.resolve("sys/fs/cgroup")); group = group.getParent()) {
            free = Math.min(free, left(group));
        }
        return free - free / 20;
    }

    private long available() {
        return lines(root.resolve("proc/meminfo")).stream().filter(line -> line.startsWith(AVAILABLE)).findFirst()
                .map(line -> Long.parseLong(line.substring(AVAILABLE.length()).replace("kB", "").strip()) * KIB).orElse(Long.MAX_VALUE);
    }

    private Path group() {
        return lines(root.resolve("proc/self/cgroup")).stream().filter(line -> line.startsWith(OF_GROUP)).findFirst()
                .map(line -> root.resolve("sys/fs/cgroup" + line.substring(OF_GROUP.length())).normalize()).orElse(null);
    }

    private static long left(Path group) {
        long most = number(group.resolve("memory.max"));
        return most < 0 ? Long.MAX_VALUE : Math.max(0, most - Math.max(0, number(group.resolve("memory.current"))));
    }

    /// -1: there is no number.
    private static long number(Path file) {
        try {
            return lines(file).stream().findFirst().map(String::strip).map(Long::parseLong).orElse(-1L);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}
