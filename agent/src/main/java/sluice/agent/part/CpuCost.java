package sluice.agent.part;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// The CPU time of an action of this thread. The least of the last few counts, because the first ones run before the JVM has compiled code.
final class CpuCost {
    private static final Path SPENT = Path.of("/proc/thread-self/schedstat");
    private static final int LAST = 5;

    private final long[] costs = new long[LAST];
    private int next;
    private long began;

    void begin() {
        began = spentNanos();
    }

    void end() {
        costs[next] = spentNanos() - began;
        next = (next + 1) % LAST;
    }

    /// 0 until there were enough actions.
    long leastNanos() {
        long least = costs[0];
        for (long cost : costs) {
            least = Math.min(least, cost);
        }
        return least;
    }

    /// The first number; 0: the kernel does not show it.
    private static long spentNanos() {
        try {
            String text = new String(Files.readAllBytes(SPENT), StandardCharsets.US_ASCII);
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }
}
