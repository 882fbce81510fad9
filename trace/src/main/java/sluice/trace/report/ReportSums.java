package sluice.trace.report;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.trace.read.TraceEvent;

/// Adds up calls, waits, copies and ranges by name. Names beyond a bound are added up together.
final class ReportSums {
    static final String OTHERS = "all others";
    private static final int NAMES = 5000;

    private final Map<String, CallSum> calls = new HashMap<>();
    private final Map<String, ReportTimes> ranges = new HashMap<>();
    private final Map<ReportCause, ReportTimes> waits = new EnumMap<>(ReportCause.class);
    private final Map<TraceEvent.Direction, long[]> copies = new EnumMap<>(TraceEvent.Direction.class);
    private final Map<ReportData.Failure, long[]> failures = new HashMap<>();

    private static final class CallSum {
        final ReportKind kind;
        final ReportTimes times = new ReportTimes();
        long waited;
        long failed;
        long bytes;

        CallSum(ReportKind kind) {
            this.kind = kind;
        }
    }

    ReportKind kind(String function) {
        return calls.computeIfAbsent(function, name -> new CallSum(ReportKind.of(name))).kind;
    }

    void call(TraceEvent.HostCall call, long waitedNanos) {
        CallSum sum = calls.get(call.function());
        sum.times.add(call.nanos());
        sum.waited += waitedNanos;
        if (call.failed()) {
            sum.failed++;
            failures.computeIfAbsent(new ReportData.Failure(call.function(), call.status(), 0), key -> new long[1])[0]++;
        }
        if (call instanceof TraceEvent.Call other) {
            sum.bytes += other.bytes();
        }
    }

    void copy(TraceEvent.Call call) {
        if (call.direction() != TraceEvent.Direction.NONE && call.bytes() > 0 && !call.failed()) {
            long[] sum = copies.computeIfAbsent(call.direction(), direction -> new long[3]);
            sum[0]++;
            sum[1] += call.bytes();
            sum[2] += call.nanos();
        }
    }

    void range(TraceEvent.Range range) {
        ReportTimes times = ranges.get(range.name());
        if (times == null) {
            times = ranges.computeIfAbsent(ranges.size() < NAMES ? range.name() : OTHERS, key -> new ReportTimes());
        }
        times.add(range.nanos());
    }

    void wait(ReportCause cause, long nanos) {
        waits.computeIfAbsent(cause, key -> new ReportTimes()).add(nanos);
    }

    List<ReportData.Call> calls() {
        return calls.entrySet().stream()
                .map(call -> new ReportData.Call(call.getKey(), call.getValue().times.times(), call.getValue().waited,
                        call.getValue().failed, call.getValue().bytes))
                .sorted(Comparator.comparingLong((ReportData.Call call) -> call.times().nanos()).reversed()
                        .thenComparing(ReportData.Call::function))
                .toList();
    }

    List<ReportData.Wait> waits() {
        return waits.entrySet().stream()
                .map(wait -> new ReportData.Wait(wait.getKey(), wait.getValue().times()))
                .sorted(Comparator.comparingLong((ReportData.Wait wait) -> wait.times().nanos()).reversed())
                .toList();
    }

    List<ReportData.Copy> copies() {
        return copies.entrySet().stream()
                .map(copy -> new ReportData.Copy(copy.getKey(), copy.getValue()[0], copy.getValue()[1], copy.getValue()[2]))
                .sorted(Comparator.comparingLong(ReportData.Copy::bytes).reversed())
                .toList();
    }

    List<ReportData.Failure> failures() {
        return failures.entrySet().stream()
                .map(failure -> new ReportData.Failure(failure.getKey().function(), failure.getKey().status(), failure.getValue()[0]))
                .sorted(Comparator.comparingLong(ReportData.Failure::calls).reversed().thenComparing(ReportData.Failure::function))
                .toList();
    }

    List<ReportData.Range> ranges() {
        return ranges.entrySet().stream()
                .map(range -> new ReportData.Range(range.getKey(), range.getValue().times()))
                .sorted(Comparator.comparingLong((ReportData.Range range) -> range.times().nanos()).reversed())
                .toList();
    }
}
