package sluice.trace.report;

import java.util.Arrays;

/// Memory in use on one GPU over time: the most in each bin, and the peak.
final class ReportMemory {
    private static final long UNKNOWN = -1;
    private final ReportBins time;
    private final long[] most;
    private final long[] last;
    private long peak = UNKNOWN;
    private long peakAt;
    private long now = UNKNOWN;

    ReportMemory(long beginNanos, long endNanos, int bins) {
        time = new ReportBins(beginNanos, endNanos, bins);
        most = new long[bins];
        last = new long[bins];
        Arrays.fill(most, UNKNOWN);
        Arrays.fill(last, UNKNOWN);
    }

    void at(long nanos, long bytes) {
        int bin = time.bin(nanos);
        most[bin] = Math.max(most[bin], bytes);
        last[bin] = bytes;
        now = bytes;
        if (bytes > peak) {
            peak = bytes;
            peakAt = nanos;
        }
    }

    long peak() {
        return peak;
    }

    long peakAt() {
        return peakAt;
    }

    long now() {
        return now;
    }

    /// The most in each bin; -1 before the first that is known.
    long[] bins() {
        long[] bins = most.clone();
        long before = UNKNOWN;
        for (int i = 0; i < bins.length; i++) {
            bins[i] = Math.max(bins[i], before);
            before = last[i] == UNKNOWN ? before : last[i];
        }
        return bins;
    }
}
