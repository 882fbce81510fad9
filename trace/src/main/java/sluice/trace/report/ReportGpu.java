package sluice.trace.report;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

/// All sums for one GPU.
final class ReportGpu {
    static final int BINS = 4096;
    static final int MEMORY_BINS = 512;
    private static final ReportCause[] CAUSES = ReportCause.values();

    private final int index;
    private final long begin;
    private final ReportIdle idle;
    private final ReportBins worked;
    private final ReportBins turn;
    private final ReportMemory memory;
    private final ReportTimes turns = new ReportTimes();
    private long batches;
    private boolean touched;

    ReportGpu(int index, long beginNanos, long endNanos, Map<ReportCause, ReportSpans> calls) {
        this.index = index;
        begin = beginNanos;
        idle = new ReportIdle(beginNanos, endNanos, BINS, calls);
        worked = new ReportBins(beginNanos, endNanos, BINS);
        turn = new ReportBins(beginNanos, endNanos, BINS);
        memory = new ReportMemory(beginNanos, endNanos, MEMORY_BINS);
    }

    ReportIdle idle() {
        return idle;
    }

    /// Whether any event was about it.
    boolean touched() {
        return touched;
    }

    void touch() {
        touched = true;
    }

    void batch(TraceEvent.Batch batch) {
        batches++;
        worked.add(batch.beginNanos(), batch.endNanos(), batch.chargedNanos());
        idle.busy(batch.beginNanos(), batch.endNanos());
    }

    void turn(TraceEvent.Turn event) {
        turns.add(event.nanos());
        turn.add(event.beginNanos(), event.endNanos());
    }

    void memory(TraceEvent.Call call) {
        memory.at(call.endNanos(), call.usedBytes());
    }

    long busyNanos() {
        return worked.sum();
    }

    ReportData.Gpu finish(long end, TraceInfo.Gpu known, long kernelNanos) {
        idle.finish(end, worked);
        boolean measured = batches > 0;
        Map<ReportCause, long[]> bins = new EnumMap<>(ReportCause.class);
        List<ReportData.Idle> causes = new ArrayList<>();
        for (ReportCause cause : CAUSES) {
            bins.put(cause, idle.bins(cause).folded(BINS));
            if (measured && idle.bins(cause).sum() > 0) {
                causes.add(new ReportData.Idle(cause, idle.bins(cause).sum()));
            }
        }
        causes.sort((a, b) -> Long.compare(b.nanos(), a.nanos()));
        List<ReportData.GapLength> lengths = measured ? idle.lengths().rows() : List.of();
        return new ReportData.Gpu(index, known.name(), measured, worked.sum(), kernelNanos, batches, causes,
                lengths.stream().mapToLong(ReportData.GapLength::gaps).sum(),
                measured ? idle.longest().stream().map(this::gap).toList() : List.of(), lengths, turns.times(), known.capPermille(), known.weight(), memory.peak(),
                memory.peak() < 0 ? 0 : memory.peakAt() - begin, memory.now(), memory.bins(),
                new ReportData.Timeline(worked.folded(BINS), bins, turn.folded(BINS)));
    }

    private ReportData.Gap gap(ReportGap gap) {
        return new ReportData.Gap(gap.begin() - begin, gap.nanos(), gap.mainCause(), gap.nanos(gap.mainCause()));
    }
}
