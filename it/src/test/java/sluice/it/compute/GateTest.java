package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// Ways to submit work that are hard for the gate. Each must hold its cap with 120 ms of work under a quarter of the GPU. A busy
/// machine may make a program slower, but nothing makes it too fast.
@Isolated
class GateTest extends OnMachine {
    private static final String CAP = "25%";
    private static final int PART = 4;
    /// What a tenant that was idle may use at once, 15 ms, less the time in which it is used.
    private static final int AHEAD_MILLIS = 60;
    private static final double LEAST = 0.85;

    private int jobs;

    private Machine.Outcome gated(String way, Map<String, String> settings) throws Exception {
        var all = new LinkedHashMap<>(Map.of("SLUICE_COMPUTE", CAP, "SLUICE_TENANT", "job" + ++jobs));
        all.putAll(settings);
        Machine.Outcome outcome = machine.preloaded(all, Machine.program("gated"), machine.kernels(), way);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        return outcome;
    }

    private static double number(Machine.Outcome outcome, String word) {
        return outcome.lines().stream()
                .filter(line -> line.startsWith(word + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(word.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line '%s …' in: %s%s".formatted(word, outcome.output(), outcome.errors())));
    }

    private static double expected(Machine.Outcome outcome) {
        return number(outcome, "gpu") * PART - AHEAD_MILLIS;
    }

    /// Too fast is never right. Gives the last run.
    private static Machine.Outcome assertHeld(double most, double moreMillis, Again.Look<Machine.Outcome> run) throws Exception {
        Machine.Outcome last = Again.until(outcome -> number(outcome, "took") <= expected(outcome) * most + moreMillis, () -> {
            Machine.Outcome outcome = run.take();
            assertThat(number(outcome, "took")).isGreaterThanOrEqualTo(expected(outcome) * LEAST);
            return outcome;
        });
        assertThat(number(last, "took")).isLessThanOrEqualTo(expected(last) * most + moreMillis);
        return last;
    }

    private static Machine.Outcome assertHeld(Again.Look<Machine.Outcome> run) throws Exception {
        return assertHeld(3, 500, run);
    }

    private Tenant tenant() {
        return Tenant.read(machine.runtimeDirectory().resolve("job" + jobs + ".region"));
    }

    private GpuTime time() {
        return tenant().gpus().getFirst().time();
    }

    @Timed
    @ParameterizedTest
    @ValueSource(strings = {"plain", "cooperative", "graph", "threads", "contexts"})
    void shouldMeasureEachWayToSubmitWork(String way) throws Exception {
        assertHeld(() -> gated(way, Map.of()));
        assertThat(time().unmeteredCalls()).isZero();
        assertThat(time().submittedCalls()).isPositive();
    }

    @Timed
    @ParameterizedTest
    @ValueSource(strings = {"ended-streams", "ended-contexts"})
    void shouldHoldWhatEndsWithABatchThatIsOpen(String way) throws Exception {
        assertHeld(() -> gated(way, Map.of()));
    }

    /// Nobody can put an event on the default stream of another thread, so each has to say when it is done. Without that they would be
    /// charged for each other's work too.
    @Timed
    @Test
    void shouldNotHoldThreadsWithDefaultStreamsToLessThanTheirCap() throws Exception {
        assertHeld(1.4, 0, () -> gated("waiting-threads", Map.of()));
    }

    @Timed
    @Test
    void shouldCountTheCallsOfThreadsThatEnd() throws Exception {
        assertHeld(() -> gated("ended-threads", Map.of()));
        assertThat(time().submittedCalls()).isEqualTo(2400);
    }

    @Timed
    @ParameterizedTest
    @ValueSource(strings = {"plain", "graph", "threads"})
    void shouldHoldLaunchesThatWaitForTheirKernel(String way) throws Exception {
        assertHeld(() -> gated(way, Map.of("CUDA_LAUNCH_BLOCKING", "1")));
    }

    @Timed
    @Test
    void shouldNotDisturbCapturesOfAnotherThread() throws Exception {
        Machine.Outcome outcome = assertHeld(() -> gated("captures", Map.of()));
        assertThat(outcome.lines()).contains("mode 0: status 0, 200 of 200 nodes", "mode 1: status 0, 200 of 200 nodes",
                "mode 2: status 0, 200 of 200 nodes");
    }

    @Timed
    @Test
    void shouldForkWhileAnotherThreadIsAtTheGate() throws Exception {
        assertThat(assertHeld(() -> gated("forks", Map.of())).lines()).contains("children 30 of 30");
    }

    /// The current context is of the first GPU, the stream of the second.
    @Timed
    @Test
    void shouldChargeACallToTheGpuOfItsStream() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        assertHeld(() -> gated("another", Map.of("SLUICE_COMPUTE", "1=" + CAP)));

        var used = tenant().gpus().stream()
                .collect(Collectors.toMap(TenantGpu::index, gpu -> gpu.time().usedNanos()));
        assertThat(used.get(1)).isBetween(100_000_000L, 140_000_000L);
        assertThat(used.getOrDefault(0, 0L)).isZero();
    }

    /// Kernels of a millisecond in a second and a half.
    @Timed
    @Test
    void shouldHoldEachGpuToACapOfItsOwn() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        Machine.Outcome last = Again.until(outcome -> number(outcome, "first") >= 150 && number(outcome, "second") >= 600, () -> {
            Machine.Outcome outcome = gated("gpus", Map.of("SLUICE_COMPUTE", "0=25%,1=50%"));
            assertThat(number(outcome, "first")).isLessThanOrEqualTo(430);
            assertThat(number(outcome, "second")).isLessThanOrEqualTo(820);
            return outcome;
        });
        assertThat(number(last, "first")).isGreaterThanOrEqualTo(150);
        assertThat(number(last, "second")).isGreaterThanOrEqualTo(600);
    }

    @Test
    void shouldRunWithoutLimitsWhereNoRegionCanBe() throws Exception {
        Machine.Outcome outcome = gated("plain", Map.of("SLUICE_RUNTIME_DIR", "/dev/null/none"));
        assertThat(outcome.errors()).isEqualTo("sluice: cannot make runtime directory /dev/null/none: Not a directory; "
                + "set SLUICE_RUNTIME_DIR; the program runs without limits\n");
        assertThat(machine.preloaded(Map.of("SLUICE_COMPUTE", CAP, "SLUICE_RUNTIME_DIR", "/dev/null/none", "SLUICE_ON_ERROR", "fail"),
                Machine.program("gated"), machine.kernels(), "plain").status()).isNotZero();
    }

    @Test
    @Fault(kind = Fault.Kind.SWAP, of = "the board of a GPU, which is a folder")
    void shouldRefuseLaunchesWhereNoBoardCanBeAndTheUserChoseToFail() throws Exception {
        Files.createDirectory(machine.runtimeDirectory().resolve("board-736c756963652d73696d2d6770750000"));
        Machine.Outcome outcome = machine.preloaded(Map.of("SLUICE_COMPUTE", CAP, "SLUICE_TENANT", "job", "SLUICE_ON_ERROR", "fail"),
                Machine.program("gated"), machine.kernels(), "plain");

        assertThat(outcome.lines()).contains("launch 800");
        assertThat(outcome.errors()).containsOnlyOnce("CUDA calls on this GPU fail, because on-error is fail");
    }

    @Timed
    @Test
    void shouldHoldACapWhereNoBoardCanBe() throws Exception {
        Path board = Files.createDirectory(machine.runtimeDirectory().resolve("board-736c756963652d73696d2d6770750000"));
        Machine.Outcome outcome = assertHeld(() -> gated("plain", Map.of("SLUICE_WEIGHT", "2")));
        assertThat(outcome.errors()).isEqualTo("sluice: cannot open board " + board + ": Is a directory; the tenant takes no turns on this GPU\n");
    }
}
