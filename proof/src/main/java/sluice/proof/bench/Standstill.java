package sluice.proof.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// How often the machine stops threads that only read the clock, as a busy virtual machine does. Then the slowest of a hundred bursts, and
/// shares over a short time, depend on the machine.
///
/// @param perSecond    stops of [#LEAST_NANOS] or more, of one thread
/// @param longestNanos 0 when there was none
public record Standstill(double perSecond, long longestNanos) {
    private static final long LEAST_NANOS = 300_000;
    private static final double MOST_PER_SECOND = 2;
    private static final long MOST_NANOS = 2_000_000;
    private static final int MOST_THREADS = 6;
    private static final long WARM_UP_NANOS = 100_000_000;
    private static final long NANOS = 1_000_000_000;

    /// Takes about a second. Half of the processors are left to others.
    public static Standstill measure() {
        int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, MOST_THREADS);
        try (var threads = Executors.newFixedThreadPool(count)) {
            Callable<List<Long>> one = () -> {
                watch(WARM_UP_NANOS);
                return watch(NANOS);
            };
            List<Long> stops = threads.invokeAll(Collections.nCopies(count, one)).stream()
                    .map(Future::resultNow).flatMap(List::stream).toList();
            return new Standstill((double) stops.size() / count, stops.stream().mapToLong(Long::longValue).max().orElse(0));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Standstill(0, 0);
        }
    }

    private static List<Long> watch(long nanos) {
        List<Long> stops = new ArrayList<>();
        long began = System.nanoTime();
        for (long last = began, now = began; now - began < nanos; last = now) {
            now = System.nanoTime();
            if (now - last >= LEAST_NANOS) {
                stops.add(now - last);
            }
        }
        return stops;
    }

    /// Whether measurements of single milliseconds mean little here.
    public boolean isRestless() {
        return perSecond > MOST_PER_SECOND || longestNanos > MOST_NANOS;
    }

    /// To go on with "this machine" or the like.
    public String text() {
        return String.format(Locale.ROOT, "stands still %.1f times a second for 0.3 ms or more", perSecond)
                + (longestNanos > 0 ? String.format(Locale.ROOT, ", the longest %.1f ms", longestNanos / 1e6) : "");
    }
}
