package sluice.trace.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;

/// Ticks of the processor as nanoseconds of CLOCK_MONOTONIC: straight lines between moments at which the library read both.
///
/// All threads share one clock, so that what one thread did before another stays before it.
final class TickClock {
    /// Reading both clocks takes tens of nanoseconds. Over this distance that is an error of a few in a million.
    private static final long APART_NANOS = 10_000_000;

    /// The shortest distance in a trace that is shorter than that.
    private static final long SHORT_NANOS = 20_000;

    private static final double MARGIN_NANOS = 10e9;
    private static final double DAY_NANOS = 86_400e9;

    private final long[] ticks;
    private final long[] nanos;
    private final TraceInfo.Anchor anchor;
    /// The line through all moments, for times outside of them.
    private final double nanosPerTick;
    private int last;

    private TickClock(List<Moment> moments, long wallAheadNanos, double givenNanosPerTick) {
        ticks = moments.stream().mapToLong(Moment::ticks).toArray();
        nanos = moments.stream().mapToLong(Moment::nanos).toArray();
        Moment first = moments.getFirst();
        Moment end = moments.getLast();
        anchor = new TraceInfo.Anchor(end.nanos, end.nanos + wallAheadNanos);
        nanosPerTick = moments.size() > 1 ? (double) (end.nanos - first.nanos) / (end.ticks - first.ticks) : givenNanosPerTick;
    }

    TraceInfo.Anchor anchor() {
        return anchor;
    }

    /// When events can have happened: each comes soon after a clock event of the ring, and few began long before that.
    TickRange range() {
        if (ticks.length == 1 && ticks[0] == 0) {
            return TickRange.ALL;
        }
        long margin = (long) (MARGIN_NANOS / nanosPerTick);
        long day = (long) (DAY_NANOS / nanosPerTick);
        return new TickRange(Math.max(0, ticks[0] - day), Math.max(0, ticks[0] - margin), ticks[ticks.length - 1] + margin);
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

    private record Moment(long ticks, long nanos, long wallNanos) {
        boolean isPossible() {
            return ticks >= 0 && ticks < MOST && nanos >= 0 && nanos < MOST;
        }
    }

    private static final long MOST = 1L << 61;

    /// Gathers the moments.
    static final class Builder {
        private static final long MILLI = 1_000_000;
        /// No trace is older than the first; the last is a guess.
        private static final long FIRST_WALL_NANOS = 1_167_609_600_000_000_000L;
        private static final long LAST_WALL_NANOS = 4_102_444_800_000_000_000L;

        private final List<Moment> moments = new ArrayList<>();
        private final List<Moment> votes = new ArrayList<>();
        private double nanosPerTick = 1;
        private long modifiedNanos;

        void add(long ticks, long nanos, long wallNanos) {
            moments.add(new Moment(ticks, nanos, wallNanos));
        }

        /// A less exact moment. It only shows which of the other moments are impossible.
        void vote(long ticks, long nanos, long wallNanos) {
            votes.add(new Moment(ticks, nanos, wallNanos));
        }

        /// The scale to use if there is only one moment.
        void nanosPerTick(double given) {
            nanosPerTick = given;
        }

        /// Wall-clock time of the last change of the files, for a trace without a valid time of its own.
        void modified(long wallNanos) {
            modifiedNanos = Math.max(modifiedNanos, wallNanos);
        }

        TickClock build() {
            List<Moment> all = new ArrayList<>(moments);
            all.addAll(votes);
            List<Moment> agreeing = agreeing(all);
            List<Moment> exact = new ArrayList<>(agreeing);
            exact.retainAll(new HashSet<>(moments));
            List<Moment> sorted = exact.isEmpty() ? agreeing : exact;
            sorted.sort(Comparator.comparingLong(Moment::ticks));
            List<Moment> kept = new ArrayList<>();
            for (Moment moment : sorted) {
                if (kept.isEmpty() || isAfter(kept.getLast(), moment)) {
                    kept.add(moment);
                }
            }
            if (kept.isEmpty()) {
                kept.add(new Moment(0, 0, 0));
            } else if (kept.size() == 1 && sorted.getLast().nanos - kept.getFirst().nanos >= SHORT_NANOS) {
                kept.add(sorted.getLast());
            }
            return new TickClock(kept, wallAhead(agreeing, kept.getLast().nanos), nanosPerTick);
        }

        /// Those that lie near the line on which most of them lie.
        private static List<Moment> agreeing(List<Moment> moments) {
            List<Moment> possible = new ArrayList<>(moments.stream().filter(Moment::isPossible).toList());
            possible.sort(Comparator.comparingLong(Moment::ticks));
            int size = possible.size();
            double[] slopes = new double[size];
            int count = 0;
            for (int i = 0; i < size; i++) {
                Moment one = possible.get(i);
                Moment other = possible.get((i + size / 2) % size);
                double slope = (double) (other.nanos - one.nanos) / (other.ticks - one.ticks);
                if (slope > 0 && Double.isFinite(slope)) {
                    slopes[count++] = slope;
                }
            }
            if (count == 0) {
                return possible;
            }
            double slope = median(Arrays.copyOf(slopes, count));
            Moment middle = possible.get(size / 2);
            double offset = median(possible.stream().mapToDouble(moment -> off(moment, middle, slope)).toArray());
            return new ArrayList<>(possible.stream().filter(moment ->
                    Math.abs(off(moment, middle, slope) - offset) <= MILLI + Math.abs(moment.ticks - middle.ticks) * slope / 1000).toList());
        }

        private static double off(Moment moment, Moment middle, double slope) {
            return (moment.nanos - middle.nanos) - slope * (moment.ticks - middle.ticks);
        }

        private static double median(double[] values) {
            Arrays.sort(values);
            return values[values.length / 2];
        }

        /// How far the wall clock is ahead, as most say; if that cannot be, as the files say.
        private long wallAhead(List<Moment> agreeing, long nanos) {
            long[] ahead = agreeing.stream().mapToLong(moment -> moment.wallNanos - moment.nanos).sorted().toArray();
            long wall = ahead.length == 0 ? 0 : nanos + ahead[ahead.length / 2];
            boolean possible = wall >= FIRST_WALL_NANOS && wall < LAST_WALL_NANOS;
            return (possible ? wall : modifiedNanos) - nanos;
        }

        private static boolean isAfter(Moment before, Moment moment) {
            return moment.ticks > before.ticks && moment.nanos - before.nanos >= APART_NANOS;
        }
    }
}
