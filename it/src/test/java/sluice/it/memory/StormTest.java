package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.Machine.Outcome;
import sluice.it.machine.OnMachine;

/// A random program against the driver's truth, for some seconds each; `bench/soak/soak.py` runs it for hours. What it judges, and
/// what its options mean, is told in `native/test/storm/storm.c`. None of these may be repeated until it passes.
class StormTest extends OnMachine {
    @BeforeEach
    void prepare() {
        machine.with("SLUICE_SIM_GPUS", "2").with("SLUICE_SIM_MEMORY", "32g").with("SLUICE_SIM_CONTEXT", "32m");
    }

    /// Plain, pitched and physical memory is known to the block.
    @Test
    void shouldRefuseNoPlainMemoryThatFits() throws Exception {
        storm(Map.of(), "--seed", "10", "--seconds", "4", "--quota", "1g", "--gpus", "2", "--judge", "--ways", "plain,pitch,vmm,stack,absurd");
    }

    /// With a quota of 3.2 GiB or more every hole in a pool is tried, however large.
    @Test
    void shouldRefuseNothingThatFits() throws Exception {
        storm(Map.of(), "--seed", "1", "--seconds", "8", "--quota", "4g", "--gpus", "2", "--judge", "--ways", "-tiny");
    }

    @Test
    void shouldRefuseNoStreamOrderedMemoryThatFits() throws Exception {
        storm(Map.of(), "--seed", "2", "--seconds", "6", "--quota", "4g", "--judge", "--ways", "plain,async,pool,orphan,launch");
    }

    @Test
    void shouldRefuseNoGraphThatFits() throws Exception {
        storm(Map.of(), "--seed", "3", "--seconds", "6", "--quota", "4g", "--judge", "--ways", "plain,async,graph");
    }

    /// Which block a small array or variable lies in only the driver knows.
    @Test
    void shouldBeWrongByLittleForSmallArraysAndVariables() throws Exception {
        storm(Map.of(), "--seed", "4", "--seconds", "5", "--quota", "1g", "--judge", "--ways", "plain,array,mipmap,module,tiny", "--slack", "8m");
    }

    @Test
    void shouldRefuseNothingWithoutAQuota() throws Exception {
        storm(Map.of("SLUICE_COMPUTE", "100%"), "--seed", "5", "--seconds", "6", "--size", "256m", "--gpus", "2", "--threads", "4");
    }

    @Test
    void shouldCountPlainMemoryOfTwoGpusWithoutAQuota() throws Exception {
        storm(Map.of("SLUICE_WEIGHT", "2"), "--seed", "6", "--seconds", "6", "--size", "8m", "--gpus", "2", "--threads", "4", "--ways", "plain,pitch");
    }

    @Test
    void shouldHoldTheQuotaInThreadsWithPoolsOnTwoGpus() throws Exception {
        storm(Map.of(), "--seed", "7", "--seconds", "8", "--quota", "2g", "--gpus", "2", "--threads", "8", "--streams", "4", "--ways",
                "plain,async,pool,orphan,launch,absurd");
    }

    @Test
    void shouldHoldTheQuotaInThreadsWithEverything() throws Exception {
        storm(Map.of(), "--seed", "8", "--seconds", "8", "--quota", "2g", "--gpus", "2", "--threads", "8", "--ways", "-tiny");
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "processes of a tenant that allocates at random")
    void shouldHoldTheQuotaWhenProcessesAreKilledAndStoppedAndLimitsChange() throws Exception {
        storm(Map.of(), "--seed", "9", "--seconds", "12", "--quota", "2g", "--gpus", "2", "--threads", "2", "--processes", "6", "--kills", "300",
                "--stops", "300", "--limits", "--ways", "-tiny");
    }

    /// Whatever the driver refuses leaves no charge. Plain memory is left out, because the judge itself takes some.
    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the driver, which refuses at random")
    void shouldChargeNothingForWhatTheDriverRefuses() throws Exception {
        String faults = Stream.of("cuMemAllocPitch_v2", "cuMemAllocManaged", "cuMemAllocAsync", "cuMemAllocAsync_ptsz", "cuMemAllocFromPoolAsync",
                "cuMemAllocFromPoolAsync_ptsz", "cuMemPoolCreate", "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuMemCreate", "cuMemMap",
                "cuArray3DCreate_v2", "cuMipmappedArrayCreate", "cuModuleLoadData", "cuCtxCreate_v2").map(call -> call + "%5=2").collect(Collectors.joining(","));

        storm(Map.of("SLUICE_SIM_FAULTS", faults), "--seed", "21", "--seconds", "6", "--quota", "2g", "--gpus", "2", "--threads", "4", "--ways", "-tiny");
    }

    private void storm(Map<String, String> settings, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Machine.program("storm")));
        command.addAll(List.of(options));

        Outcome outcome = machine.preloaded(settings, command.toArray(String[]::new));

        assertThat(outcome.output()).as("%s%n%s", String.join(" ", options), outcome.errors()).contains("verdict=held");
        assertThat(outcome.status()).isZero();
    }
}
