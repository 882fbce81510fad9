package sluice.trace.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import sluice.trace.read.TraceDamage;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceInfo;
import sluice.trace.read.TraceProgress;

/// Makes a report of a trace in one pass, in memory that does not grow with the trace.
public final class ReportBuilder implements Consumer<TraceEvent> {
    /// How far causes are settled behind the newest event; spans that reach back further are less exact.
    private static final long WINDOW_NANOS = 1_000_000_000;
    private static final int DETAILED_THREADS = 64;
    private static final int SHOWN_THREADS = 12;
    private static final int SHOWN_MARKS = 100;

    private final TraceInfo info;
    private final long begin;
    private final long end;
    private final Map<ReportCause, ReportSpans> callSpans = new EnumMap<>(ReportCause.class);
    private final Map<Integer, ReportGpu> gpus = new TreeMap<>();
    private final Map<Long, ReportThread> threads = new HashMap<>();
    private final ReportSums sums = new ReportSums();
    private final ReportKernels kernels = new ReportKernels();
    private List<TraceDamage> damage = List.of();
    private final List<ReportData.Mark> marks = new ArrayList<>();
    private ReportThread others;
    private long events;
    private long settled;
    private long newest;

    public ReportBuilder(TraceInfo info) {
        this.info = info;
        begin = info.beginNanos();
        end = Math.max(info.endNanos(), begin);
        settled = begin;
        for (ReportCause cause : List.of(ReportCause.COPY, ReportCause.SYNC, ReportCause.CALL)) {
            callSpans.put(cause, new ReportSpans());
        }
        info.gpus().forEach(gpu -> gpu(gpu.index()).touch());
        if (gpus.isEmpty()) {
            gpu(0);
        }
    }

    public static ReportData of(TraceFolder folder, TraceProgress progress) {
        ReportBuilder builder = new ReportBuilder(folder.info());
        folder.forEach(builder, progress);
        builder.damage = folder.damage();
        return builder.finish();
    }

    @Override
    public void accept(TraceEvent event) {
        events++;
        newest = Math.max(newest, event.endNanos());
        if (newest - settled > 2 * WINDOW_NANOS) {
            settle(newest - WINDOW_NANOS);
        }
        switch (event) {
            case TraceEvent.Call call -> {
                call(call);
                sums.copy(call);
                if (call.usedBytes() >= 0 && call.gpu() >= 0) {
                    used(call.gpu()).memory(call);
                }
            }
            case TraceEvent.Kernel kernel -> {
                call(kernel);
                kernels.launch(kernel);
                if (kernel.gpu() >= 0) {
                    used(kernel.gpu());
                }
            }
            case TraceEvent.Wait wait -> wait(wait);
            case TraceEvent.Turn turn -> used(turn.gpu()).turn(turn);
            case TraceEvent.Batch batch -> used(batch.gpu()).batch(batch);
            case TraceEvent.Cost cost -> kernels.cost(cost);
            case TraceEvent.Range range -> {
                sums.range(range);
                thread(range).range(range);
            }
            case TraceEvent.Mark mark -> mark(mark);
        }
    }

    private void call(TraceEvent.HostCall call) {
        ReportKind kind = sums.kind(call.function());
        sums.call(call, thread(call).call(call, kind));
        ReportCause cause = ReportCause.of(kind);
        callSpans.get(cause).add(Math.max(call.beginNanos(), settled), call.endNanos());
        if (call.beginNanos() < settled) {
            gpus.values().forEach(gpu -> gpu.idle().late(cause, call.beginNanos(), call.endNanos()));
        }
    }

    private void wait(TraceEvent.Wait wait) {
        ReportCause cause = ReportCause.of(wait.reason());
        sums.wait(cause, wait.nanos());
        thread(wait).wait(wait);
        if (wait.gpu() >= 0) {
            used(wait.gpu()).idle().cause(cause, wait.beginNanos(), wait.endNanos());
        } else {
            gpus.values().forEach(gpu -> gpu.idle().cause(cause, wait.beginNanos(), wait.endNanos()));
        }
    }

    private void mark(TraceEvent.Mark mark) {
        if (marks.size() < SHOWN_MARKS) {
            marks.add(new ReportData.Mark(mark.name(), mark.beginNanos() - begin));
        }
    }

    private void settle(long until) {
        gpus.values().forEach(gpu -> gpu.idle().settle(until));
        gpus.values().forEach(gpu -> gpu.idle().forget());
        settled = Math.max(settled, until);
    }

    private ReportGpu gpu(int index) {
        return gpus.computeIfAbsent(Math.max(0, index), number -> new ReportGpu(number, begin, end, callSpans));
    }

    private ReportGpu used(int index) {
        ReportGpu gpu = gpu(index);
        gpu.touch();
        return gpu;
    }

    private ReportThread thread(TraceEvent event) {
        long key = (long) event.pid() << 32 | event.tid() & 0xffffffffL;
        ReportThread thread = threads.get(key);
        if (thread == null) {
            thread = threads.size() < DETAILED_THREADS ? new ReportThread(ring(event), begin, end) : others();
            threads.put(key, thread);
        }
        return thread;
    }

    private ReportThread others() {
        if (others == null) {
            others = new ReportThread(new TraceInfo.ThreadRing(0, 0, "all other threads", 0, 0), begin, end);
        }
        return others;
    }

    private TraceInfo.ThreadRing ring(TraceEvent event) {
        TraceInfo.ThreadRing unnamed = new TraceInfo.ThreadRing(event.pid(), event.tid(), "", 0, 0);
        return info.threads().stream()
                .filter(ring -> ring.pid() == event.pid() && ring.tid() == event.tid())
                .reduce(unnamed, (a, b) -> new TraceInfo.ThreadRing(a.pid(), a.tid(), b.name(), a.events() + b.events(), a.dropped() + b.dropped()));
    }

    public ReportData finish() {
        settle(end);
        List<ReportData.Gpu> reports = gpus.entrySet().stream()
                .filter(gpu -> gpu.getValue().touched())
                .map(gpu -> gpu.getValue().finish(end, known(gpu.getKey()), kernels.fit(gpu.getKey(), gpu.getValue().busyNanos())))
                .toList();
        List<ReportData.ThreadLine> lines = threads.values().stream()
                .distinct()
                .sorted(Comparator.comparingLong(ReportThread::calls).reversed())
                .limit(SHOWN_THREADS)
                .map(ReportThread::line)
                .toList();
        return new ReportData(info.tenant(), info.processes(), info.anchor().wall(begin), end - begin, events, info.dropped(), damage, reports,
                sums.calls(), kernels.rows(), sums.waits(), sums.copies(), sums.failures(), sums.ranges(), lines, List.copyOf(marks));
    }

    private TraceInfo.Gpu known(int index) {
        return info.gpus().stream().filter(gpu -> gpu.index() == index).findFirst().orElse(new TraceInfo.Gpu(index, "", "", 0, 0));
    }
}
