package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.Machine.Outcome;
import sluice.it.machine.OnMachine;

/// Memory by handle and arrays: charged from the call that takes it to the one after which the driver has it back.
class HandlesAndArraysTest extends OnMachine {
    private static final long MIB = 1L << 20;
    private static final long STEP = 64 * MIB;

    /// hami.md 9.4
    @Test
    void shouldStopCreateMapReleaseAtTheQuota() throws Exception {
        var outcome = vmm("loop");
        long start = free(outcome, "start");
        assertThat(outcome.output()).contains("got %d %d 2".formatted(start / STEP, start / STEP * STEP)).contains("again 0");
        assertThat(free(outcome, "held")).isEqualTo(start % STEP);
        assertThat(List.of(free(outcome, "unmapped"), free(outcome, "end"))).containsOnly(start);
    }

    @Test
    void shouldChargeUntilTheLastReferenceAndTheLastMapping() throws Exception {
        var outcome = vmm("retain");
        long start = free(outcome, "start");
        assertThat(outcome.output()).contains("handle same");
        assertThat(List.of(free(outcome, "created"), free(outcome, "released"), free(outcome, "unmapped"),
                free(outcome, "mapped again, released"))).containsOnly(start - STEP);
        assertThat(free(outcome, "end")).isEqualTo(start);
    }

    @Test
    void shouldRefundRangesWithGaps() throws Exception {
        var outcome = vmm("gaps");
        long start = free(outcome, "start");
        assertThat(free(outcome, "six")).isEqualTo(start - 6 * STEP);
        assertThat(free(outcome, "four")).isEqualTo(start - 4 * STEP);
        assertThat(free(outcome, "two")).isEqualTo(start - 2 * STEP);
        assertThat(outcome.output()).contains("empty 0");
        assertThat(free(outcome, "end")).isEqualTo(start);
    }

    @Test
    void shouldChargeTheGpuOfTheMemoryAndNotOfTheContext() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        var outcome = vmm("loop", "--device", "1");
        assertThat(outcome.output()).containsPattern("got 1[56] \\d+ 2");
        assertThat(free(outcome, "held")).isEqualTo(free(outcome, "start"));
    }

    /// hami.md 9.6
    @Test
    void shouldStopArraysAtTheQuota() throws Exception {
        var outcome = vmm("arrays");
        long start = free(outcome, "start");
        assertThat(outcome.output()).contains("got %d %d 2".formatted(start / STEP, start / STEP * STEP));
        assertThat(free(outcome, "end")).isEqualTo(start);
    }

    @Test
    void shouldChargeSmallArraysByTheBlock() throws Exception {
        var outcome = vmm("small", "--count", "20");
        assertThat(free(outcome, "start") - free(outcome, "held")).isEqualTo(2 * MIB);
        assertThat(free(outcome, "end")).isEqualTo(free(outcome, "start"));
    }

    @Test
    void shouldRefundArraysWithTheirContext() throws Exception {
        var outcome = vmm("contexts");
        assertThat(free(outcome, "start") - free(outcome, "four")).isGreaterThanOrEqualTo(3 * STEP + 2 * MIB);
        assertThat(free(outcome, "sparse")).isEqualTo(free(outcome, "four"));
        assertThat(free(outcome, "end")).isEqualTo(free(outcome, "start"));
    }

    @Test
    void shouldChargeArraysOfEveryShapeWhatTheDriverTakes() throws Exception {
        var with = machine.limited("4g", "vmm", "sizes");
        var without = machine.bare(Machine.program("vmm"), "sizes");
        assertThat(sizes(with)).hasSizeGreaterThan(20).isEqualTo(sizes(without));
    }

    @Test
    void shouldHoldNothingAfterRandomCalls() throws Exception {
        var outcome = vmm("churn");
        assertThat(free(outcome, "end")).isEqualTo(free(outcome, "start"));
    }

    private Outcome vmm(String... arguments) throws Exception {
        return machine.limited("1g", "vmm", arguments);
    }

    private static List<String> sizes(Outcome outcome) {
        return outcome.lines().stream().filter(line -> line.startsWith("size ")).toList();
    }

    private static long free(Outcome outcome, String label) {
        return outcome.lines().stream()
                .filter(line -> line.startsWith(label + " free "))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line '%s free …' in: %s".formatted(label, outcome.output())));
    }
}
