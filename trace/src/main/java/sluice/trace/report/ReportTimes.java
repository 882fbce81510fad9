package sluice.trace.report;

/// Counts durations. Quantiles are exact to an eighth.
final class ReportTimes {
    private static final int STEPS = 8;
    private final long[] histogram = new long[64 * STEPS];
    private long count;
    private long nanos;
    private long longest;
    private long shortest = Long.MAX_VALUE;

    void add(long duration) {
        long lasted = Math.max(0, duration);
        count++;
        nanos += lasted;
        longest = Math.max(longest, lasted);
        shortest = Math.min(shortest, lasted);
        histogram[step(lasted)]++;
    }

    /// Powers of two, each cut into eight.
    private static int step(long nanos) {
        if (nanos < STEPS) {
            return (int) nanos;
        }
        int power = 63 - Long.numberOfLeadingZeros(nanos);
        return (power - 2) * STEPS + (int) (nanos >> power - 3 & STEPS - 1);
    }

    private static long middle(int step) {
        if (step < STEPS) {
            return step;
        }
        int power = step / STEPS + 2;
        return (long) ((STEPS + step % STEPS + 0.5) * (1L << power - 3));
    }

    long count() {
        return count;
    }

    long nanos() {
        return nanos;
    }

    ReportData.Times times() {
        return new ReportData.Times(count, nanos, quantile(0.5), quantile(0.99), longest);
    }

    private long quantile(double part) {
        long rank = (long) Math.ceil(count * part);
        long seen = 0;
        for (int step = 0; step < histogram.length && rank > 0; step++) {
            seen += histogram[step];
            if (seen >= rank) {
                return Math.clamp(middle(step), shortest, longest);
            }
        }
        return 0;
    }
}
