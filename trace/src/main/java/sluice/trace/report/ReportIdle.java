package sluice.trace.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/// Finds the time in which one GPU did nothing for the tenant, and names a cause for every nanosecond of it.
///
/// Events come in order of their ends, so a span may begin long before the events seen so far. Causes are settled some time behind the
/// newest event. A span that reaches back further takes time over from weaker causes, bin by bin.
/// The trace says how long the GPU worked within a batch, but not when. So calls and waits during the batch are only hints at the cause of
/// idle time.
final class ReportIdle {
    private static final Set<ReportCause> WITH_WORK = EnumSet.of(ReportCause.FLIGHT, ReportCause.SYNC, ReportCause.CALL);
    private static final int KEPT_GAPS = 200;
    private static final Comparator<ReportGap> LENGTH = Comparator.comparingLong(ReportGap::nanos);

    /// One cause: the time in which it kept work from the GPU, and the idle time that it explains.
    private static final class Suspect {
        final ReportCause cause;
        final ReportSpans spans;
        final ReportBins booked;
        final ReportBins hinted;
        /// Up to where its spans are settled.
        int position;

        Suspect(ReportCause cause, ReportSpans spans, ReportBins booked, ReportBins hinted) {
            this.cause = cause;
            this.spans = spans;
            this.booked = booked;
            this.hinted = hinted;
        }
    }

    private final ReportSpans busy = new ReportSpans();
    /// In the order of their strength, which is that of [ReportCause].
    private final List<Suspect> suspects = new ArrayList<>();
    /// Causes that come from spans; the other causes come from the absence of spans.
    private final List<Suspect> seen;
    private final PriorityQueue<ReportGap> longest = new PriorityQueue<>(LENGTH);
    private final ReportGapLengths lengths = new ReportGapLengths();
    private long settled;
    private ReportGap gap;
    private long quietSince = -1;

    /// @param calls the spans of calls, by cause; the same for all GPUs
    ReportIdle(long beginNanos, long endNanos, int binCount, Map<ReportCause, ReportSpans> calls) {
        settled = beginNanos;
        for (ReportCause cause : ReportCause.values()) {
            suspects.add(new Suspect(cause, calls.getOrDefault(cause, new ReportSpans()), new ReportBins(beginNanos, endNanos, binCount),
                    new ReportBins(beginNanos, endNanos, binCount)));
        }
        seen = suspects.subList(0, ReportCause.HOST.ordinal());
    }

    private Suspect suspect(ReportCause cause) {
        return suspects.get(cause.ordinal());
    }

    /// Causes that rank below this cause: where both apply, this cause counts.
    private List<Suspect> weakerThan(ReportCause cause) {
        return suspects.subList(cause.ordinal() + 1, suspects.size());
    }

    /// The GPU worked.
    void busy(long begin, long end) {
        busy.add(Math.max(begin, settled), end);
        if (begin < settled) {
            takeFrom(suspects, begin, Math.min(end, settled), (bin, nanos) -> { });
        }
    }

    /// A cause kept work from the GPU.
    void cause(ReportCause cause, long begin, long end) {
        suspect(cause).spans.add(Math.max(begin, settled), end);
        late(cause, begin, end);
    }

    /// The part of a call within the time that is settled already.
    void late(ReportCause cause, long begin, long end) {
        if (begin < settled) {
            long until = Math.min(end, settled);
            takeFrom(weakerThan(cause), begin, until, suspect(cause).booked::change);
            longest.forEach(old -> old.takeOver(cause, begin, until));
        }
    }

    /// Receives the time that weaker causes lose.
    private interface Taker {
        void take(int bin, long nanos);
    }

    /// Takes idle time that is settled already from causes that did not explain it.
    private void takeFrom(List<Suspect> weaker, long begin, long end, Taker taker) {
        ReportBins bins = suspects.getFirst().booked;
        for (int bin = bins.bin(begin); bin < bins.size() && bins.edge(bin) < end; bin++) {
            long low = bins.edge(bin);
            long high = bins.edge(bin + 1);
            double part = (double) (Math.min(high, end) - Math.max(low, begin)) / (high - low);
            for (Suspect loser : weaker) {
                long moved = (long) (loser.booked.at(bin) * part);
                loser.booked.change(bin, -moved);
                taker.take(bin, moved);
            }
        }
    }

    /// Names the causes of all idle time up to a moment.
    void settle(long until) {
        int working = busy.first();
        for (Suspect suspect : seen) {
            suspect.position = suspect.spans.first();
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
                    gap = new ReportGap(now);
                }
                now = named(now, Math.min(busy.begin(working), until));
            }
        }
        settled = Math.max(settled, until);
    }

    /// Names the cause at one moment, and returns how long it lasted.
    private long named(long now, long limit) {
        long until = limit;
        for (Suspect suspect : seen) {
            suspect.position = suspect.spans.seek(suspect.position, now);
            long begin = suspect.spans.begin(suspect.position);
            if (begin <= now) {
                until = Math.min(until, suspect.spans.end(suspect.position));
                endQuiet(now);
                book(suspect, now, until);
                return until;
            }
            until = Math.min(until, begin);
        }
        quietSince = quietSince < 0 ? now : quietSince;
        return until;
    }

    private void endQuiet(long now) {
        if (quietSince >= 0) {
            book(suspect(now - quietSince >= ReportCause.IDLE_NANOS ? ReportCause.PROGRAM : ReportCause.HOST), quietSince, now);
            quietSince = -1;
        }
    }

    /// Outside of a gap it is a hint, if the call does not show that the GPU had work.
    private void book(Suspect suspect, long begin, long end) {
        if (gap != null) {
            gap.add(suspect.cause, end - begin);
            suspect.booked.add(begin, end);
        } else if (!WITH_WORK.contains(suspect.cause)) {
            suspect.hinted.add(begin, end);
        }
    }

    private void close(long now) {
        if (gap == null) {
            return;
        }
        endQuiet(now);
        gap.close(now);
        lengths.add(gap);
        longest.add(gap);
        if (longest.size() > KEPT_GAPS) {
            longest.remove();
        }
        gap = null;
    }

    /// Drops the spans before the settled time. The spans of calls are shared by all GPUs, so each GPU is settled first.
    void forget() {
        busy.forget(settled);
        for (Suspect suspect : seen) {
            suspect.spans.forget(settled);
        }
    }

    /// Settles the rest.
    void finish(long end, ReportBins worked) {
        settle(end);
        close(end);
        endQuiet(end);
        for (int bin = 0; bin < worked.size(); bin++) {
            long rest = worked.edge(bin + 1) - worked.edge(bin) - worked.at(bin);
            for (Suspect suspect : suspects) {
                rest -= suspect.booked.at(bin);
            }
            if (rest > 0) {
                ranDry(bin, rest);
            }
        }
    }

    /// Splits the idle time within batches by the hints. The cause of the rest is not known.
    private void ranDry(int bin, long rest) {
        long left = rest;
        long hints = 0;
        for (Suspect suspect : suspects) {
            hints += suspect.hinted.at(bin);
        }
        double part = Math.min(1, (double) rest / Math.max(1, hints));
        for (Suspect suspect : suspects) {
            long hinted = (long) (suspect.hinted.at(bin) * part);
            suspect.booked.change(bin, hinted);
            left -= hinted;
        }
        suspect(ReportCause.DRY).booked.change(bin, left);
    }

    ReportBins bins(ReportCause cause) {
        return suspect(cause).booked;
    }

    ReportGapLengths lengths() {
        return lengths;
    }

    List<ReportGap> longest() {
        List<ReportGap> gaps = new ArrayList<>(longest);
        gaps.sort(LENGTH.reversed());
        return gaps;
    }
}
