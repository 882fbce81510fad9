package sluice.agent.part;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// What an action of this thread costs, in CPU time. The least of the last few counts: the first ones are those of a JVM that has compiled nothing.
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

    /// 0 until there have been enough.
    long leastNanos() {
        long least = costs[0];
        for (long cost : costs) {
            least = Math.min(least, cost);
        }
        return least;
    }

    /// The first number; 0 where the kernel does not tell.
    private static long spentNanos() {
        try {
            String text = new String(Files.readAllBytes(SPENT), StandardCharsets.US_ASCII);
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }
}
