package sluice.trace.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

public class ReportBuilderTest {
    private static final long MS = 1_000_000;
    private final List<TraceEvent> events = new ArrayList<>();

    public static ReportData report(List<TraceEvent> events, long dropped) {
        ReportBuilder builder = new ReportBuilder(MadeUpTraining.info(events, dropped));
        events.stream().sorted(Comparator.comparingLong(TraceEvent::endNanos)).forEach(builder);
        return builder.finish();
    }

    private static long ms(double at) {
        return MadeUpTraining.BEGIN + (long) (at * MS);
    }

    private ReportBuilderTest call(double begin, double end, String function) {
        events.add(new TraceEvent.Call(ms(begin), ms(end), 1, 1, 0, function, 0, 0, 0, TraceEvent.Direction.NONE, -1));
        return this;
    }

    private ReportBuilderTest busy(double begin, double end) {
        events.add(new TraceEvent.Batch(ms(begin), ms(end), 1, 1, 0, 1, (long) ((end - begin) * MS), 0));
        return this;
    }

    private ReportBuilderTest wait(double begin, double end, TraceEvent.Reason reason) {
        events.add(new TraceEvent.Wait(ms(begin), ms(end), 1, 1, 0, reason));
        return this;
    }

    private String idle() {
        return report(events, 0).gpus().getFirst().idle().stream()
                .filter(idle -> idle.nanos() >= MS)
                .map(idle -> idle.cause().word() + " " + Math.round((double) idle.nanos() / MS))
                .collect(Collectors.joining(", "));
    }

    @Test
    void shouldNameTheWaitBeforeTheCallThatWaited() {
        busy(0, 10).call(10, 40, "cuLaunchKernel").wait(12, 39, TraceEvent.Reason.CAP).busy(40, 50);
        assertThat(idle()).isEqualTo("cap 27, call 3");
    }

    @Test
    void shouldTellTurnsLocksAndMemoryApart() {
        busy(0, 1).wait(1, 6, TraceEvent.Reason.TURN).busy(6, 7).wait(7, 11, TraceEvent.Reason.LOCK).busy(11, 12)
                .wait(12, 15, TraceEvent.Reason.MEMORY).busy(15, 16);
        assertThat(idle()).isEqualTo("turn 5, lock 4, memory 3");
    }

    @Test
    void shouldNameCopiesThatBlockButNotOthers() {
        busy(0, 1).call(1, 21, "cuMemcpyDtoH_v2").call(21, 31, "cuMemcpyDtoHAsync_v2").busy(31, 32);
        assertThat(idle()).isEqualTo("copy 20, call 10");
    }

    @Test
    void shouldTellABusyHostFromAnIdleProgram() {
        busy(0, 1).call(20, 20.001, "cuCtxGetCurrent").call(40, 40.001, "cuCtxGetCurrent").busy(41, 42).busy(150, 151);
        assertThat(idle()).isEqualTo("program 108, host 40");
    }

    @Test
    void shouldSayThatTheQueueRanDry() {
        events.add(new TraceEvent.Batch(ms(0), ms(100), 1, 1, 0, 100, 30 * MS, 0));
        call(0, 100, "cuLaunchKernel");
        assertThat(idle()).isEqualTo("dry 70");
    }

    @Test
    void shouldLookForTheCauseWithinABatchThatRanDry() {
        events.add(new TraceEvent.Batch(ms(0), ms(1000), 1, 1, 0, 100, 100 * MS, 0));
        call(0, 200, "cuLaunchKernel").call(800, 1000, "cuStreamSynchronize");
        assertThat(idle()).isEqualTo("program 540, dry 360");
    }

    @Test
    void shouldFindTheCauseOfAGapThatIsSeenLongAfter() {
        for (int i = 0; i < 10; i++) {
            busy(i * 1000, i * 1000 + 500);
        }
        call(2000, 9500, "cuMemcpyDtoH_v2");
        ReportData.Gpu gpu = report(events, 0).gpus().getFirst();
        assertThat(gpu.idle().getFirst().cause()).isEqualTo(ReportCause.COPY);
        assertThat(gpu.idle().getFirst().nanos()).isCloseTo(3500 * MS, within(10 * MS));
        assertThat(gpu.longestGaps()).filteredOn(gap -> gap.beginNanos() > 2000 * MS).allMatch(gap -> gap.cause() == ReportCause.COPY);
    }

    @Test
    void shouldKnowGpusApart() {
        busy(0, 10).busy(20, 30);
        events.add(new TraceEvent.Batch(ms(5), ms(25), 1, 1, 1, 1, 20 * MS, 0));
        events.add(new TraceEvent.Wait(ms(10), ms(20), 1, 1, 0, TraceEvent.Reason.CAP));
        List<ReportData.Gpu> gpus = report(events, 0).gpus();
        assertThat(gpus).extracting(ReportData.Gpu::index).containsExactly(0, 1);
        assertThat(gpus).extracting(ReportData.Gpu::busyNanos).containsExactly(20 * MS, 20 * MS);
        assertThat(gpus.get(0).idle()).extracting(ReportData.Idle::cause).containsExactly(ReportCause.CAP);
        assertThat(gpus.get(1).idle()).extracting(ReportData.Idle::cause).containsExactly(ReportCause.HOST);
    }

    @Test
    void shouldAccountForAllOfTheTime() {
        ReportData data = report(MadeUpTraining.steps(200), 0);
        ReportData.Gpu gpu = data.gpus().getFirst();
        assertThat(gpu.busyNanos() + gpu.idleNanos()).isCloseTo(data.nanos(), within(data.nanos() / 1000));
        assertThat(gpu.gapLengths().stream().mapToLong(ReportData.GapLength::nanos).sum()).isLessThanOrEqualTo(gpu.idleNanos());
    }

    @Test
    void shouldCountEveryEvent() {
        List<TraceEvent> training = MadeUpTraining.steps(100);
        ReportData data = report(training, 0);
        assertThat(data.events()).isEqualTo(training.size());
        assertThat(data.callCount()).isEqualTo(training.stream().filter(TraceEvent.HostCall.class::isInstance).count());
        assertThat(data.launches()).isEqualTo(training.stream().filter(TraceEvent.Kernel.class::isInstance).count());
        assertThat(data.callNanos()).isEqualTo(training.stream().filter(TraceEvent.HostCall.class::isInstance).mapToLong(TraceEvent::nanos).sum());
        assertThat(data.waitedNanos()).isEqualTo(training.stream().filter(TraceEvent.Wait.class::isInstance).mapToLong(TraceEvent::nanos).sum());
        assertThat(data.calls().stream().mapToLong(ReportData.Call::waitedNanos).sum()).isEqualTo(data.waitedNanos());
        assertThat(data.gpus().getFirst().busyNanos())
                .isEqualTo(training.stream().filter(TraceEvent.Batch.class::isInstance).mapToLong(event -> ((TraceEvent.Batch) event).chargedNanos()).sum());
    }

    @Test
    void shouldNotCallAnUnmeasuredGpuIdle() {
        call(0, 10, "cuMemAlloc_v2");
        ReportData.Gpu gpu = report(events, 0).gpus().getFirst();
        assertThat(gpu.measured()).isFalse();
        assertThat(gpu.idle()).isEmpty();
    }

    private void copy(long bytes, int status, TraceEvent.Direction direction) {
        events.add(new TraceEvent.Call(ms(0), ms(1), 1, 1, 0, "cuMemcpyHtoD_v2", status, 0, bytes, direction, -1));
    }

    @Test
    void shouldSumTheCopiesThatWereMadeByDirection() {
        copy(100, 0, TraceEvent.Direction.TO_GPU);
        copy(20, 0, TraceEvent.Direction.TO_GPU);
        copy(3, 1, TraceEvent.Direction.TO_GPU);
        copy(7, 0, TraceEvent.Direction.FROM_GPU);
        copy(5, 1, TraceEvent.Direction.FROM_GPU);

        ReportData data = report(events, 0);

        assertThat(data.copies()).containsExactly(new ReportData.Copy(TraceEvent.Direction.TO_GPU, 2, 120, 2 * MS), new ReportData.Copy(TraceEvent.Direction.FROM_GPU, 1, 7, MS));
        assertThat(data.failures()).containsExactly(new ReportData.Failure("cuMemcpyHtoD_v2", 1, 2));
    }

    @Test
    void shouldAddUpThreadsBeyondABound() {
        for (int thread = 1; thread <= 70; thread++) {
            events.add(new TraceEvent.Call(ms(0), ms(1), 1, thread, 0, "cuCtxGetCurrent", 0, 0, 0, TraceEvent.Direction.NONE, -1));
        }
        ReportData.ThreadLine most = report(events, 0).threads().getFirst();
        assertThat(most.name()).isEqualTo("all other threads");
        assertThat(most.calls()).isEqualTo(6);
    }

    @Test
    void shouldAddUpNamesBeyondABound() {
        ReportSums sums = new ReportSums();
        for (int name = 0; name < 5007; name++) {
            sums.range(new TraceEvent.Range(0, 1, 1, 1, "range " + name, "", 0, true));
        }
        assertThat(sums.ranges()).hasSize(5001).filteredOn(range -> range.name().equals("all others")).singleElement()
                .satisfies(others -> assertThat(others.times().count()).isEqualTo(7));
    }

    /// A thread has a second ring when its program forked, or when the first was full.
    @Test
    void shouldAddUpWhatTheRingsOfAThreadLost() {
        call(0, 1, "cuCtxGetCurrent");
        TraceInfo made = MadeUpTraining.info(events, 0);
        TraceInfo info = new TraceInfo(made.tenant(), made.processes(), List.of(new TraceInfo.ThreadRing(1, 1, "python", 1, 3),
                new TraceInfo.ThreadRing(1, 2, "other", 0, 100), new TraceInfo.ThreadRing(1, 1, "python", 0, 4)), made.gpus(), 1, 107,
                made.beginNanos(), made.endNanos(), made.anchor());
        ReportBuilder builder = new ReportBuilder(info);
        events.forEach(builder);
        assertThat(builder.finish().threads()).singleElement().satisfies(line -> assertThat(line.dropped()).isEqualTo(7));
    }
}
