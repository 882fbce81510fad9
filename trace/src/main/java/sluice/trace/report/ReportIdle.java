package sluice.trace.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;

/// Finds the time in which one GPU did nothing for the tenant, and names a cause for every nanosecond of it.
///
/// Events come in order of their ends, so a span may begin long before all that was seen. Causes are settled some way
/// behind the newest event; a span that reaches back further takes time over from weaker causes, bin by bin.
/// Within a batch it is known how long the GPU worked, but not when: what went on meanwhile hints at why it did not.
final class ReportIdle {
    private static final ReportCause[] CAUSES = ReportCause.values();
    /// Causes up to this one come from spans; the others from their absence.
    private static final int SPANS = ReportCause.HOST.ordinal();
    private static final Set<ReportCause> WITH_WORK = EnumSet.of(ReportCause.FLIGHT, ReportCause.SYNC, ReportCause.CALL);
    private static final int KEPT_GAPS = 200;
    private static final Comparator<Gap> LENGTH = Comparator.comparingLong(Gap::nanos);

    /// A time in which the GPU did nothing.
    static final class Gap {
        final long begin;
        long end;
        final long[] causes = new long[CAUSES.length];

        Gap(long begin) {
            this.begin = begin;
            end = begin;
        }

        long nanos() {
            return end - begin;
        }
    }

    private final ReportSpans busy = new ReportSpans();
    private final ReportSpans[] spans = new ReportSpans[SPANS];
    private final int[] at = new int[SPANS];
    private final ReportBins[] bins = new ReportBins[CAUSES.length];
    private final ReportBins[] hints = new ReportBins[CAUSES.length];
    private final PriorityQueue<Gap> longest = new PriorityQueue<>(LENGTH);
    private final ReportGapLengths lengths = new ReportGapLengths();
    private long settled;
    private Gap gap;
    private long quietSince = -1;

    /// @param calls what threads did in calls, by cause; the same for all GPUs
    ReportIdle(long beginNanos, long endNanos, int binCount, ReportSpans[] calls) {
        settled = beginNanos;
        for (int i = 0; i < SPANS; i++) {
            spans[i] = calls[i] != null ? calls[i] : new ReportSpans();
        }
        Arrays.setAll(bins, i -> new ReportBins(beginNanos, endNanos, binCount));
        Arrays.setAll(hints, i -> new ReportBins(beginNanos, endNanos, binCount));
    }

    /// The GPU worked.
    void busy(long begin, long end) {
        busy.add(Math.max(begin, settled), end);
        if (begin < settled) {
            takeOver(-1, begin, Math.min(end, settled));
        }
    }

    /// Something kept work from the GPU.
    void cause(ReportCause cause, long begin, long end) {
        spans[cause.ordinal()].add(Math.max(begin, settled), end);
        late(cause, begin, end);
    }

    /// The part of a call that lies before what is settled.
    void late(ReportCause cause, long begin, long end) {
        if (begin < settled) {
            takeOver(cause.ordinal(), begin, Math.min(end, settled));
        }
    }

    /// Names the causes of all idle time up to a moment.
    void settle(long until) {
        int working = busy.first();
        for (int i = 0; i < SPANS; i++) {
            at[i] = spans[i].first();
        }
        long now = settled;
        while (now < until) {
            working = busy.seek(working, now);
            if (busy.begin(working) <= now) {
                close(now);
                now = named(now, Math.min(busy.end(working), until));
            } else {
                if (gap == null) {
                    endQuiet(now);
                    gap = new Gap(now);
                }
                now = named(now, Math.min(busy.begin(working), until));
            }
        }
        settled = Math.max(settled, until);
    }

    /// Names the cause at one moment, and returns how long it lasted.
    private long named(long now, long limit) {
        long until = limit;
        int cause = -1;
        for (int i = 0; i < SPANS && cause < 0; i++) {
            at[i] = spans[i].seek(at[i], now);
            long begin = spans[i].begin(at[i]);
            if (begin <= now) {
                cause = i;
                until = Math.min(until, spans[i].end(at[i]));
            } else {
                until = Math.min(until, begin);
            }
        }
        if (cause < 0) {
            quietSince = quietSince < 0 ? now : quietSince;
        } else {
            endQuiet(now);
            book(cause, now, until);
        }
        return until;
    }

    private void endQuiet(long now) {
        if (quietSince >= 0) {
            ReportCause cause = now - quietSince >= ReportCause.IDLE_NANOS ? ReportCause.PROGRAM : ReportCause.HOST;
            book(cause.ordinal(), quietSince, now);
            quietSince = -1;
        }
    }

    /// Outside of a gap it is a hint, if the call does not show that the GPU had work.
    private void book(int cause, long begin, long end) {
        if (gap != null) {
            gap.causes[cause] += end - begin;
            bins[cause].add(begin, end);
        } else if (!WITH_WORK.contains(CAUSES[cause])) {
            hints[cause].add(begin, end);
        }
    }

    private void close(long now) {
        if (gap == null) {
            return;
        }
        endQuiet(now);
        gap.end = now;
        lengths.add(gap);
        longest.add(gap);
        if (longest.size() > KEPT_GAPS) {
            longest.remove();
        }
        gap = null;
    }

    /// Gives up what lies before all that is settled. The spans of calls belong to other GPUs too: settle those first.
    void forget() {
        busy.forget(settled);
        for (int i = 0; i < SPANS; i++) {
            spans[i].forget(settled);
        }
    }

    /// Gives idle time that is settled already to a stronger cause, or to none (-1).
    private void takeOver(int cause, long begin, long end) {
        for (int bin = bins[0].bin(begin); bin < bins[0].size() && bins[0].edge(bin) < end; bin++) {
            long low = bins[0].edge(bin);
            long high = bins[0].edge(bin + 1);
            double part = (double) (Math.min(high, end) - Math.max(low, begin)) / (high - low);
            for (int weaker = cause + 1; weaker < CAUSES.length; weaker++) {
                long moved = (long) (bins[weaker].at(bin) * part);
                bins[weaker].change(bin, -moved);
                if (cause >= 0) {
                    bins[cause].change(bin, moved);
                }
            }
        }
        if (cause >= 0) {
            longest.forEach(old -> takeOver(old, cause, begin, end));
        }
    }

    private static void takeOver(Gap gap, int cause, long begin, long end) {
        double part = (double) (Math.min(gap.end, end) - Math.max(gap.begin, begin)) / Math.max(1, gap.nanos());
        for (int weaker = cause + 1; weaker < CAUSES.length && part > 0; weaker++) {
            long moved = (long) (gap.causes[weaker] * part);
            gap.causes[weaker] -= moved;
            gap.causes[cause] += moved;
        }
    }

    /// Settles the rest.
    void finish(long end, ReportBins worked) {
        settle(end);
        close(end);
        endQuiet(end);
        for (int bin = 0; bin < worked.size(); bin++) {
            long rest = worked.edge(bin + 1) - worked.edge(bin) - worked.at(bin) - sum(bins, bin);
            if (rest > 0) {
                ranDry(bin, rest);
            }
        }
    }

    /// Splits the time in which the GPU was measured not to work within batches: by the hints, and what they leave.
    private void ranDry(int bin, long rest) {
        long left = rest;
        double part = Math.min(1, (double) rest / Math.max(1, sum(hints, bin)));
        for (int cause = 0; cause < CAUSES.length; cause++) {
            long hinted = (long) (hints[cause].at(bin) * part);
            bins[cause].change(bin, hinted);
            left -= hinted;
        }
        bins[ReportCause.DRY.ordinal()].change(bin, left);
    }

    private static long sum(ReportBins[] causes, int bin) {
        long sum = 0;
        for (ReportBins cause : causes) {
            sum += cause.at(bin);
        }
        return sum;
    }

    ReportBins bins(ReportCause cause) {
        return bins[cause.ordinal()];
    }

    ReportGapLengths lengths() {
        return lengths;
    }

    List<Gap> longest() {
        List<Gap> gaps = new ArrayList<>(longest);
        gaps.sort(LENGTH.reversed());
        return gaps;
    }
}
