package sluice.trace.report.output;

import static sluice.trace.report.output.ReportTree.object;

import java.util.Arrays;
import java.util.Map;
import sluice.trace.read.TraceDamage;
import sluice.trace.report.ReportData;

/// The report for programs. Times are nanoseconds; moments are counted from the begin of the trace.
public final class ReportJson {
    /// Bins of the series of each GPU.
    static final int BINS = 256;

    private ReportJson() {}

    public static String of(ReportData data) {
        return ReportTree.indented(object(
                "tenant", data.tenant(),
                "processes", data.processes().stream()
                        .map(process -> object("pid", process.pid(), "command", process.command(), "driver", process.driver(),
                                "library", process.library()))
                        .toList(),
                "began", data.began().toString(),
                "nanos", data.nanos(),
                "events", data.events(),
                "dropped", data.dropped(),
                "damage", data.damage().stream()
                        .map(damage -> object("file", damage.file(), "what", damage.what(), "lost_events",
                                damage.lost() == TraceDamage.UNKNOWN ? null : damage.lost()))
                        .toList(),
                "calls", data.callCount(),
                "call_nanos", data.callNanos(),
                "failed_calls", data.failedCalls(),
                "kernel_launches", data.launches(),
                "waited_nanos", data.waitedNanos(),
                "copied_bytes", data.copiedBytes(),
                "gpus", data.gpus().stream().map(gpu -> gpu(gpu, data)).toList(),
                "functions", data.calls().stream().map(ReportJson::call).toList(),
                "kernels", data.kernels().stream().map(ReportJson::kernel).toList(),
                "waits", data.waits().stream().map(wait -> times(wait.cause().word(), wait.times())).toList(),
                "copies", data.copies().stream()
                        .map(copy -> object("direction", copy.direction().word(), "calls", copy.calls(), "bytes", copy.bytes(),
                                "nanos", copy.nanos()))
                        .toList(),
                "failures", data.failures().stream()
                        .map(failure -> object("function", failure.function(), "status", failure.status(), "calls", failure.calls()))
                        .toList(),
                "ranges", data.ranges().stream().map(range -> times(range.name(), range.times())).toList(),
                "threads", data.threads().stream()
                        .map(thread -> object("pid", thread.pid(), "tid", thread.tid(), "name", thread.name(), "calls", thread.calls(),
                                "nanos", thread.nanos(), "dropped", thread.dropped()))
                        .toList()));
    }

    private static Map<String, Object> gpu(ReportData.Gpu gpu, ReportData data) {
        return object(
                "index", gpu.index(),
                "name", gpu.name(),
                "measured", gpu.measured(),
                "busy_nanos", gpu.busyNanos(),
                "kernel_nanos", gpu.kernelNanos(),
                "kernels_side_by_side", gpu.besideEachOther(),
                "idle_nanos", gpu.idleNanos(),
                "batches", gpu.batches(),
                "asked_permille", gpu.askedPermille(),
                "weight", gpu.weight(),
                "idle", gpu.idle().stream().map(idle -> object("cause", idle.cause().word(), "nanos", idle.nanos())).toList(),
                "gaps", gpu.gaps(),
                "gap_lengths", gpu.gapLengths().stream()
                        .map(length -> object("length", length.text(), "gaps", length.gaps(), "nanos", length.nanos()))
                        .toList(),
                "longest_gaps", gpu.longestGaps().stream()
                        .map(gap -> object("begin_nanos", gap.beginNanos(), "nanos", gap.nanos(), "cause", gap.cause().word(),
                                "cause_nanos", gap.causeNanos()))
                        .toList(),
                "turns", times("turn", gpu.turns()),
                "peak_bytes", gpu.peakBytes() < 0 ? null : gpu.peakBytes(),
                "peak_at_nanos", gpu.peakAtNanos(),
                "last_bytes", gpu.lastBytes() < 0 ? null : gpu.lastBytes(),
                "series", object(
                        "bin_nanos", data.nanos() / BINS,
                        "busy_nanos", folded(gpu.timeline().busy(), BINS),
                        "turn_nanos", folded(gpu.timeline().turn(), BINS),
                        "most_bytes", most(gpu.memory(), BINS)));
    }

    private static Map<String, Object> call(ReportData.Call call) {
        Map<String, Object> object = times(call.function(), call.times());
        object.put("waited_nanos", call.waitedNanos());
        object.put("failed", call.failed());
        object.put("bytes", call.bytes());
        return object;
    }

    private static Map<String, Object> kernel(ReportData.Kernel kernel) {
        return object("name", kernel.name(), "launches", kernel.launches(), "gpu_nanos", kernel.gpuNanos(),
                "nanos_per_launch", kernel.perLaunch(), "least_nanos_per_launch", kernel.leastNanos(), "most_nanos_per_launch", kernel.mostNanos(),
                "estimate", kernel.estimated(), "host_nanos", kernel.hostNanos(), "last_shape", kernel.shape());
    }

    private static Map<String, Object> times(String name, ReportData.Times times) {
        return object("name", name, "count", times.count(), "nanos", times.nanos(), "median_nanos", times.medianNanos(),
                "slowest_percent_nanos", times.slowestPercentNanos(), "longest_nanos", times.longestNanos());
    }

    /// The same amounts in fewer bins.
    static long[] folded(long[] bins, int size) {
        long[] folded = new long[size];
        for (int i = 0; i < bins.length; i++) {
            folded[(int) ((long) i * size / bins.length)] += bins[i];
        }
        return folded;
    }

    /// The largest values in fewer bins.
    static long[] most(long[] bins, int size) {
        long[] most = new long[size];
        Arrays.fill(most, -1);
        for (int i = 0; i < bins.length; i++) {
            int at = (int) ((long) i * size / bins.length);
            most[at] = Math.max(most[at], bins[i]);
        }
        return most;
    }

}
