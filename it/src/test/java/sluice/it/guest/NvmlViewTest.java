package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// NVML, and so nvidia-smi, shows a tenant its quota and its own processes, whether a program asks dlsym or is linked.
class NvmlViewTest extends OnMachine {
    private static final Map<String, String> QUOTA = Map.of("SLUICE_MEMORY", "0=4g");
    private static final long QUOTA_BYTES = 4L << 30;
    private static final long HELD_BYTES = 100L << 20;
    private static final String HELD = String.valueOf(HELD_BYTES);

    @BeforeEach
    void start() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2").with("SLUICE_SIM_CONTEXT", "0");
    }

    private static List<Long> memory(Machine.Outcome outcome, int gpu, String version) {
        String start = "memory " + gpu + " " + version + " 0 ";
        String line = outcome.output().lines().filter(it -> it.startsWith(start)).findFirst()
                .orElseThrow(() -> new AssertionError(outcome.toString()));
        return List.of(line.substring(start.length()).split(" ")).stream().map(Long::valueOf).toList();
    }

    private static List<String> processes(Machine.Outcome outcome, String version) {
        String start = "process 0 compute " + version + " ";
        return outcome.output().lines().filter(it -> it.startsWith(start)).map(it -> it.substring(start.length())).toList();
    }

    private static String self(Machine.Outcome outcome) {
        return outcome.output().lines().filter(it -> it.startsWith("self ")).findFirst().orElseThrow().substring(5);
    }

    private static String withoutPid(Machine.Outcome outcome) {
        return outcome.output().replaceAll("\\b" + self(outcome) + "\\b", "PID");
    }

    @ParameterizedTest
    @ValueSource(strings = {"smi", "smi_linked"})
    void shouldShowTheQuotaBeforeCudaIsUsed(String program) throws Exception {
        var outcome = machine.preloaded(QUOTA, Machine.program(program));
        for (var version : List.of("v1", "v2")) {
            assertThat(memory(outcome, 0, version)).containsExactly(QUOTA_BYTES, 0L, QUOTA_BYTES, 0L);
            assertThat(memory(outcome, 1, version).getFirst()).isGreaterThan(QUOTA_BYTES);
        }
        assertThat(processes(outcome, "v3")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"smi", "smi_linked"})
    void shouldShowTheTenantsProcessesOnly(String program) throws Exception {
        var stranger = machine.startPreloaded(Map.of("SLUICE_MEMORY", "8g"), Machine.program("hog"), "--step", "512m", "--count", "1",
                "--hold", "60000");
        while (memory(machine.bare(Machine.program("smi")), 0, "v1").get(3) < 512L << 20) {
            Thread.sleep(20);
        }
        assertThat(processes(machine.bare(Machine.program("smi")), "v3")).hasSize(1);
        var outcome = machine.preloaded(QUOTA, Machine.program(program), HELD, "1");
        for (var version : List.of("v1", "v2")) {
            var memory = memory(outcome, 0, version);
            assertThat(memory.getFirst()).isEqualTo(QUOTA_BYTES);
            assertThat(memory.get(3)).isBetween(2 * HELD_BYTES, 3 * HELD_BYTES);
            assertThat(memory.get(1) + memory.get(2) + memory.get(3)).isEqualTo(QUOTA_BYTES);
        }
        for (var version : List.of("v1", "v2", "v3", "details")) {
            assertThat(processes(outcome, version)).hasSize(2)
                    .anyMatch(line -> line.startsWith(self(outcome) + " "))
                    .noneMatch(line -> line.startsWith(stranger.pid() + " "));
        }
        assertThat(outcome.output()).doesNotContain("needed and status");
    }

    @Test
    void shouldShowUseOnTheGpuThatCudaRenumbered() throws Exception {
        machine.with("CUDA_VISIBLE_DEVICES", "1");
        var outcome = machine.preloaded(Map.of("SLUICE_MEMORY", "0=2g,1=4g"), Machine.program("smi"), HELD);
        assertThat(memory(outcome, 0, "v2")).containsExactly(2L << 30, 0L, 2L << 30, 0L);
        assertThat(memory(outcome, 1, "v2").getFirst()).isEqualTo(QUOTA_BYTES);
        assertThat(memory(outcome, 1, "v2").getLast()).isGreaterThanOrEqualTo(HELD_BYTES);
        assertThat(outcome.output()).contains("process 1 compute v3 " + self(outcome)).doesNotContain("process 0 compute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"smi", "smi_linked"})
    void shouldChangeNothingWithoutLimits(String program) throws Exception {
        var without = machine.bare(Machine.program(program), HELD);
        var with = machine.preloaded(Map.of(), Machine.program(program), HELD);
        assertThat(withoutPid(with)).isEqualTo(withoutPid(without));
        assertThat(processes(with, "v3")).hasSize(1);
    }
}
