package sluice.trace.report;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import sluice.trace.read.TraceDamage;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

/// A trace in numbers: all that the page, the text and the JSON show. Lists have the most important first.
///
/// @param tenant    empty when it is not known
/// @param began     wall clock
/// @param nanos     from the first event to the last
/// @param events    events that were read
/// @param dropped   events that the library could not record
/// @param damage    damage of the trace's files
/// @param calls     driver calls by function; its sums are those of the trace
/// @param kernels   kernels by name
/// @param waits     waits at the gate by reason
/// @param copies    copies and fills by direction
/// @param failures  calls that failed, by function and status
/// @param ranges    ranges that the program named with NVTX
/// @param threads   those with most calls
/// @param marks     moments that the program named with NVTX, the first ones
public record ReportData(
        String tenant,
        List<TraceInfo.Process> processes,
        Instant began,
        long nanos,
        long events,
        long dropped,
        List<TraceDamage> damage,
        List<Gpu> gpus,
        List<Call> calls,
        List<Kernel> kernels,
        List<Wait> waits,
        List<Copy> copies,
        List<Failure> failures,
        List<Range> ranges,
        List<ThreadLine> threads,
        List<Mark> marks) {

    /// A number of times, and how long they took.
    public record Times(long count, long nanos, long medianNanos, long slowestPercentNanos, long longestNanos) {
        public long meanNanos() {
            return count == 0 ? 0 : nanos / count;
        }
    }

    /// @param waitedNanos the part of the time that Sluice made it wait
    public record Call(String function, Times times, long waitedNanos, long failed, long bytes) {}

    /// @param launches     launches that were traced
    /// @param gpuNanos     their GPU time, as learnt; 0 = not known
    /// @param perLaunch    GPU time of one launch; 0 = not known
    /// @param leastNanos   lower bound of one launch
    /// @param mostNanos    upper bound of one launch
    /// @param hostNanos    how long the calls that launched it took
    /// @param shape        grid and block of the last launch
    public record Kernel(String name, long launches, long gpuNanos, long perLaunch, long leastNanos, long mostNanos, long hostNanos, String shape) {
        private static final double EXACT = 0.05;
        private static final long EXACT_NANOS = 1000;

        /// Whether the bounds are too wide for the time to be more than an estimate.
        public boolean estimated() {
            long off = Math.max(perLaunch - leastNanos, mostNanos - perLaunch);
            return perLaunch > 0 && off > EXACT * perLaunch && off > EXACT_NANOS;
        }
    }

    public record Wait(ReportCause cause, Times times) {}

    public record Copy(TraceEvent.Direction direction, long calls, long bytes, long nanos) {}

    public record Failure(String function, int status, long calls) {}

    public record Range(String name, Times times) {}

    /// @param beginNanos since the begin of the trace
    public record Mark(String name, long beginNanos) {}

    /// @param measured    whether there were batches, so that busy and idle are known
    /// @param busyNanos   GPU time that was charged
    /// @param kernelNanos GPU time of all its kernels; more than busyNanos if some ran at the same time
    /// @param idle        the rest of the time, by cause; empty when nothing was measured
    /// @param gaps        stretches without work
    /// @param longestGaps the longest of them
    /// @param turns       turns that the tenant held
    /// @param askedPermille the cap on GPU time; 0 = none
    /// @param weight      its part against others; 0 = not known
    /// @param peakBytes   most memory in use; -1 = not known
    /// @param peakAtNanos since the begin of the trace
    /// @param memory      most bytes in use in each bin of the trace; -1 = not known yet
    /// @param timeline    busy and idle time, bin by bin
    public record Gpu(
            int index,
            String name,
            boolean measured,
            long busyNanos,
            long kernelNanos,
            long batches,
            List<Idle> idle,
            long gaps,
            List<Gap> longestGaps,
            List<GapLength> gapLengths,
            Times turns,
            int askedPermille,
            int weight,
            long peakBytes,
            long peakAtNanos,
            long lastBytes,
            long[] memory,
            Timeline timeline) {

        /// Whether kernels ran at the same time, by the sum of their times.
        public boolean besideEachOther() {
            return measured && kernelNanos > busyNanos;
        }

        public long idleNanos() {
            return idle.stream().mapToLong(Idle::nanos).sum();
        }
    }

    public record Idle(ReportCause cause, long nanos) {}

    /// @param beginNanos since the begin of the trace
    /// @param cause      the cause of the largest part
    /// @param causeNanos the length of that part
    public record Gap(long beginNanos, long nanos, ReportCause cause, long causeNanos) {}

    public record GapLength(String text, long gaps, long nanos) {}

    /// Equal bins of the trace's time.
    ///
    /// @param busy nanoseconds of work in each bin
    /// @param idle nanoseconds in each bin, by cause
    /// @param turn nanoseconds in each bin for which the turn was held
    public record Timeline(long[] busy, Map<ReportCause, long[]> idle, long[] turn) {}

    /// @param kinds   nanoseconds in each of equal bins, by kind
    /// @param longest its longest calls and waits
    /// @param ranges  its longest named ranges
    public record ThreadLine(int pid, int tid, String name, long calls, long nanos, long dropped, Map<ReportKind, long[]> kinds, List<Span> longest,
            List<Span> ranges) {}

    /// @param beginNanos since the begin of the trace
    /// @param depth      how many others it lies in
    public record Span(long beginNanos, long nanos, String name, ReportKind kind, int depth) {}

    public long callCount() {
        return calls.stream().mapToLong(call -> call.times().count()).sum();
    }

    public long callNanos() {
        return calls.stream().mapToLong(call -> call.times().nanos()).sum();
    }

    public long failedCalls() {
        return calls.stream().mapToLong(Call::failed).sum();
    }

    public long launches() {
        return kernels.stream().mapToLong(Kernel::launches).sum();
    }

    public long waitedNanos() {
        return waits.stream().mapToLong(wait -> wait.times().nanos()).sum();
    }

    public long copiedBytes() {
        return copies.stream().mapToLong(Copy::bytes).sum();
    }
}
