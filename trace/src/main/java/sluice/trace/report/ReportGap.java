package sluice.trace.report;

/// A time in which the GPU did nothing, and why.
final class ReportGap {
    private static final ReportCause[] CAUSES = ReportCause.values();

    private final long begin;
    private long end;
    private final long[] nanosByCause = new long[CAUSES.length];

    ReportGap(long begin) {
        this.begin = begin;
        end = begin;
    }

    void close(long now) {
        end = now;
    }

    long begin() {
        return begin;
    }

    long nanos() {
        return end - begin;
    }

    long nanos(ReportCause cause) {
        return nanosByCause[cause.ordinal()];
    }

    void add(ReportCause cause, long nanos) {
        nanosByCause[cause.ordinal()] += nanos;
    }

    /// A stronger cause explains a span of the gap: weaker causes lose their part of that span.
    void takeOver(ReportCause cause, long from, long until) {
        double part = (double) (Math.min(end, until) - Math.max(begin, from)) / Math.max(1, nanos());
        for (int weaker = cause.ordinal() + 1; weaker < CAUSES.length && part > 0; weaker++) {
            long moved = (long) (nanosByCause[weaker] * part);
            nanosByCause[weaker] -= moved;
            nanosByCause[cause.ordinal()] += moved;
        }
    }

    /// The cause of the largest part; of several, the strongest.
    ReportCause mainCause() {
        ReportCause most = CAUSES[0];
        for (ReportCause cause : CAUSES) {
            most = nanos(cause) > nanos(most) ? cause : most;
        }
        return most;
    }
}
