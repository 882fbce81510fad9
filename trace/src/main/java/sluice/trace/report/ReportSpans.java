package sluice.trace.report;

import java.util.Arrays;

/// A set of moments: spans of time in order that neither touch nor overlap. They come nearly in order of their ends, and
/// the oldest are forgotten again, so it stays small.
final class ReportSpans {
    private long[] begins = new long[64];
    private long[] ends = new long[64];
    private int first;
    private int size;

    void add(long begin, long end) {
        if (end <= begin) {
            return;
        }
        int after = size;
        while (after > first && begins[after - 1] > end) {
            after--;
        }
        int from = after;
        long low = begin;
        long high = end;
        while (from > first && ends[from - 1] >= low) {
            from--;
            low = Math.min(low, begins[from]);
            high = Math.max(high, ends[from]);
        }
        replace(from, after, low, high);
    }

    private void replace(int from, int after, long low, long high) {
        if (size == begins.length) {
            begins = Arrays.copyOf(begins, size * 2);
            ends = Arrays.copyOf(ends, size * 2);
        }
        if (after != from + 1) {
            System.arraycopy(begins, after, begins, from + 1, size - after);
            System.arraycopy(ends, after, ends, from + 1, size - after);
            size += from + 1 - after;
        }
        begins[from] = low;
        ends[from] = high;
    }

    /// Forgets the spans that ended by then.
    void forget(long nanos) {
        while (first < size && ends[first] <= nanos) {
            first++;
        }
        if (first > 1024 && first * 2 > size) {
            System.arraycopy(begins, first, begins, 0, size - first);
            System.arraycopy(ends, first, ends, 0, size - first);
            size -= first;
            first = 0;
        }
    }

    int first() {
        return first;
    }

    int size() {
        return size - first;
    }

    /// The position at or after `from` of the first span that ends later than a moment.
    int seek(int from, long nanos) {
        int at = from;
        while (at < size && ends[at] <= nanos) {
            at++;
        }
        return at;
    }

    long begin(int at) {
        return at < size ? begins[at] : Long.MAX_VALUE;
    }

    long end(int at) {
        return ends[at];
    }
}
