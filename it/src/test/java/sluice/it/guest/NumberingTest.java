package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// Limits go to the GPU that nvidia-smi numbers so, and its contexts are counted, whatever CUDA shows first.
class NumberingTest extends OnMachine {
    private static final long CONTEXT = 64L << 20;

    @BeforeEach
    void start() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "64m").with("SLUICE_SIM_GPUS", "2");
    }

    /// CUDA's device 0, when its context is there. A quota of 60 MiB would refuse it.
    private TenantGpu firstDevice(String memory) throws Exception {
        Process job = machine.startPreloaded(Map.of("SLUICE_MEMORY", memory, "SLUICE_TENANT", "job"), Machine.program("footprint"), "--hold", "primary");
        try {
            assertThat(Machine.awaitLine(job, "primary ")).startsWith("primary 0 ");
            return Tenant.read(machine.runtimeDirectory().resolve("job.region")).gpus().getFirst();
        } finally {
            job.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest
    @CsvSource({"SLUICE_SIM_LOST,0", "SLUICE_SIM_FASTEST,1", "SLUICE_SIM_MIG,1:2", "CUDA_VISIBLE_DEVICES,1"})
    void shouldCountOnTheGpuThatCudaShowsFirst(String setting, String value) throws Exception {
        machine.with(setting, value);
        TenantGpu gpu = firstDevice("0=60m,1=8g");
        assertThat(gpu.index()).isEqualTo(1);
        assertThat(gpu.uses().contextBytes()).isEqualTo(CONTEXT);
    }

    @Test
    void shouldCountWithTheLongEntriesOfEarlyR535() throws Exception {
        machine.with("SLUICE_SIM_NVML", "535.54.03");
        assertThat(firstDevice("8g").uses().contextBytes()).isEqualTo(CONTEXT);
    }
}
