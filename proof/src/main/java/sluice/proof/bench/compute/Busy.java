package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sluice.proof.facts.Stamps;

/// The spans in which the GPU was busy with some work: the union of its stamps. Nothing else can run between two queued kernels. So a gap
/// that is no longer than theirs (1.6 to 2.1 µs on an H200) counts as busy, too.
record Busy(long[] begins, long[] ends) {
    static final long GAP_NANOS = 3000;

    static Busy of(Stamps stamps) {
        return of(stamps, GAP_NANOS);
    }

    static Busy of(Stamps stamps, long gapNanos) {
        long[] begins = new long[stamps.count()];
        long[] ends = new long[stamps.count()];
        int spans = 0;
        for (int i = 0; i < stamps.count(); i++) {
            if (spans > 0 && stamps.begins()[i] - ends[spans - 1] < gapNanos) {
                ends[spans - 1] = Math.max(ends[spans - 1], stamps.ends()[i]);
            } else {
                begins[spans] = stamps.begins()[i];
                ends[spans++] = stamps.ends()[i];
            }
        }
        return new Busy(Arrays.copyOf(begins, spans), Arrays.copyOf(ends, spans));
    }

    /// Busy time between two moments.
    long nanos(long from, long to) {
        long sum = 0;
        for (int i = firstEndingAfter(from); i < begins.length && begins[i] < to; i++) {
            sum += Math.min(ends[i], to) - Math.max(begins[i], from);
        }
        return sum;
    }

    double share(long from, long to) {
        return to > from ? (double) nanos(from, to) / (to - from) : 0;
    }

    /// The share in each whole window between two moments.
    List<Double> windows(long from, long to, long width) {
        List<Double> shares = new ArrayList<>();
        for (long start = from; start + width <= to; start += width) {
            shares.add(share(start, start + width));
        }
        return shares;
    }

    private int firstEndingAfter(long moment) {
        int found = Arrays.binarySearch(ends, moment);
        return found >= 0 ? found + 1 : -found - 1;
    }
}
