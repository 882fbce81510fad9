package sluice.trace.read;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Ticks of the processor as nanoseconds of CLOCK_MONOTONIC: straight lines between moments at which the library read both.
///
/// All threads share one clock, so that what one thread did before another stays before it.
final class TickClock {
    /// Reading both clocks takes tens of nanoseconds. Over this distance that is an error of a few in a million.
    private static final long APART_NANOS = 10_000_000;

    /// What a trace that is shorter than that must do with.
    private static final long SHORT_NANOS = 20_000;

    private final long[] ticks;
    private final long[] nanos;
    private final TraceInfo.Anchor anchor;
    /// Of all moments, for what lies outside of them.
    private final double nanosPerTick;
    private int last;

    private TickClock(List<Moment> moments, double givenNanosPerTick) {
        ticks = moments.stream().mapToLong(Moment::ticks).toArray();
        nanos = moments.stream().mapToLong(Moment::nanos).toArray();
        Moment first = moments.getFirst();
        Moment end = moments.getLast();
        anchor = new TraceInfo.Anchor(end.nanos, end.wallNanos);
        nanosPerTick = moments.size() > 1 ? (double) (end.nanos - first.nanos) / (end.ticks - first.ticks) : givenNanosPerTick;
    }

    TraceInfo.Anchor anchor() {
        return anchor;
    }

    long nanos(long tick) {
        if (tick < ticks[0]) {
            return nanos[0] - Math.round((ticks[0] - tick) * nanosPerTick);
        }
        int end = ticks.length - 1;
        if (tick >= ticks[end]) {
            return nanos[end] + Math.round((tick - ticks[end]) * nanosPerTick);
        }
        int at = at(tick);
        double slope = (double) (nanos[at + 1] - nanos[at]) / (ticks[at + 1] - ticks[at]);
        return nanos[at] + Math.round((tick - ticks[at]) * slope);
    }

    /// The line that a tick lies on; mostly the one that was used last, or the next.
    private int at(long tick) {
        int at = last;
        if (ticks[at] > tick || tick >= ticks[at + 1]) {
            int low = 0;
            int high = ticks.length - 2;
            while (low < high) {
                int middle = (low + high + 1) >>> 1;
                if (ticks[middle] <= tick) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            at = low;
            last = at;
        }
        return at;
    }

    private record Moment(long ticks, long nanos, long wallNanos) {}

    /// Gathers the moments.
    static final class Builder {
        private final List<Moment> moments = new ArrayList<>();
        private double nanosPerTick = 1;

        void add(long ticks, long nanos, long wallNanos) {
            moments.add(new Moment(ticks, nanos, wallNanos));
        }

        /// What to go by when there is one moment only.
        void nanosPerTick(double given) {
            nanosPerTick = given;
        }

        TickClock build() {
            moments.sort(Comparator.comparingLong(Moment::ticks));
            List<Moment> kept = new ArrayList<>();
            for (Moment moment : moments) {
                if (kept.isEmpty() || isAfter(kept.getLast(), moment)) {
                    kept.add(moment);
                }
            }
            if (kept.isEmpty()) {
                kept.add(new Moment(0, 0, 0));
            } else if (kept.size() == 1 && moments.getLast().nanos - kept.getFirst().nanos >= SHORT_NANOS) {
                kept.add(moments.getLast());
            }
            return new TickClock(kept, nanosPerTick);
        }

        private static boolean isAfter(Moment before, Moment moment) {
            return moment.ticks > before.ticks && moment.nanos - before.nanos >= APART_NANOS;
        }
    }
}
