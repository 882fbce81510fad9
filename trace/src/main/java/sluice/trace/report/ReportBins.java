package sluice.trace.report;

/// Time cut into equal bins, and an amount in each. However long the trace, the number of bins is the same; sums are exact.
final class ReportBins {
    private final long begin;
    private final long end;
    private final long[] sums;

    ReportBins(long beginNanos, long endNanos, int bins) {
        begin = beginNanos;
        end = Math.max(endNanos, beginNanos + 1);
        sums = new long[bins];
    }

    /// Adds the time from one moment to another.
    void add(long from, long to) {
        add(from, to, to - from);
    }

    /// Spreads an amount evenly over a span. Parts outside of the trace count for its first or last bin.
    void add(long from, long to, long amount) {
        int first = bin(from);
        int last = to > from ? bin(to - 1) : first;
        long given = 0;
        for (int i = first; i < last; i++) {
            long due = Math.round(amount * ((double) (edge(i + 1) - from) / (to - from)));
            sums[i] += due - given;
            given = due;
        }
        sums[last] += amount - given;
    }

    int bin(long nanos) {
        if (nanos <= begin) {
            return 0;
        }
        if (nanos >= end) {
            return sums.length - 1;
        }
        int at = Math.min(sums.length - 1, (int) ((double) (nanos - begin) / (end - begin) * sums.length));
        return edge(at) > nanos ? at - 1 : at + 1 < sums.length && edge(at + 1) <= nanos ? at + 1 : at;
    }

    /// Where a bin begins.
    long edge(int bin) {
        return begin + (long) ((double) (end - begin) * bin / sums.length);
    }

    int size() {
        return sums.length;
    }

    long at(int bin) {
        return sums[bin];
    }

    void change(int bin, long amount) {
        sums[bin] += amount;
    }

    long sum() {
        long sum = 0;
        for (long amount : sums) {
            sum += amount;
        }
        return sum;
    }

    /// The same with fewer bins; their number must divide the number of these.
    long[] folded(int bins) {
        long[] folded = new long[bins];
        for (int i = 0; i < sums.length; i++) {
            folded[(int) ((long) i * bins / sums.length)] += sums[i];
        }
        return folded;
    }
}
