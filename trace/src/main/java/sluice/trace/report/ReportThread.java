package sluice.trace.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

/// The activity of one thread over time, and its longest calls. Short calls are in the sums only.
final class ReportThread {
    static final int BINS = 1024;
    private static final int KEPT = 400;
    private static final Comparator<ReportData.Span> LENGTH = Comparator.comparingLong(ReportData.Span::nanos);

    private final TraceInfo.ThreadRing ring;
    private final long begin;
    private final Map<ReportKind, ReportBins> bins = new EnumMap<>(ReportKind.class);
    private final PriorityQueue<ReportData.Span> longest = new PriorityQueue<>(LENGTH);
    private final PriorityQueue<ReportData.Span> ranges = new PriorityQueue<>(LENGTH);
    private long calls;
    private long nanos;
    private long waitedFrom;
    private long waited;

    ReportThread(TraceInfo.ThreadRing ring, long beginNanos, long endNanos) {
        this.ring = ring;
        begin = beginNanos;
        for (ReportKind kind : ReportKind.values()) {
            bins.put(kind, new ReportBins(beginNanos, endNanos, BINS));
        }
    }

    void wait(TraceEvent.Wait event) {
        if (waited == 0) {
            waitedFrom = event.beginNanos();
        }
        waited += event.nanos();
        ReportKind kind = ReportKind.of(event.reason());
        bins.get(kind).add(event.beginNanos(), event.endNanos());
        keep(longest, event, event.reason().text(), kind, 1);
    }

    /// Books a call, and returns how much of it was spent waiting.
    long call(TraceEvent.HostCall call, ReportKind kind) {
        long inside = waitedFrom >= call.beginNanos() ? Math.min(waited, call.nanos()) : 0;
        waited = 0;
        calls++;
        nanos += call.nanos();
        bins.get(kind).add(call.beginNanos(), call.endNanos(), call.nanos() - inside);
        keep(longest, call, call instanceof TraceEvent.Kernel kernel ? kernel.name() : call.function(), kind, 0);
        return inside;
    }

    void range(TraceEvent.Range range) {
        keep(ranges, range, range.name(), ReportKind.OTHER, range.depth());
    }

    private void keep(PriorityQueue<ReportData.Span> kept, TraceEvent event, String name, ReportKind kind, int depth) {
        if (kept.size() == KEPT) {
            if (kept.peek().nanos() >= event.nanos()) {
                return;
            }
            kept.remove();
        }
        kept.add(new ReportData.Span(event.beginNanos() - begin, event.nanos(), name, kind, depth));
    }

    long calls() {
        return calls;
    }

    ReportData.ThreadLine line() {
        Map<ReportKind, long[]> kinds = new EnumMap<>(ReportKind.class);
        bins.forEach((kind, each) -> kinds.put(kind, each.folded(BINS)));
        return new ReportData.ThreadLine(ring.pid(), ring.tid(), ring.name(), calls, nanos, ring.dropped(), kinds, sorted(longest),
                sorted(ranges));
    }

    private static List<ReportData.Span> sorted(PriorityQueue<ReportData.Span> spans) {
        List<ReportData.Span> sorted = new ArrayList<>(spans);
        sorted.sort(Comparator.comparingLong(ReportData.Span::beginNanos));
        return sorted;
    }
}
