package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.it.machine.Mistake.assertMistake;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// `sluice set` on a tenant that runs.
class SetTest extends OnMachine {
    private Process job;

    @BeforeEach
    void start() throws Exception {
        job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "2g", "--",
                Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "60000");
        Machine.awaitLine(job, "got ");
    }

    @AfterEach
    void end() throws Exception {
        job.destroyForcibly().waitFor();
    }

    @Test
    void shouldChangeTheQuota() throws Exception {
        var outcome = machine.sluice("set", "job", "--memory", "6g", "--on-oom", "wait:30s");

        assertThat(outcome.output()).contains("job: memory 6.0 GiB (was 2.0 GiB)").contains("wait up to 30 s (was fail)");
        assertThat(machine.sluice("inspect", "job").output()).contains("6.0 GiB (change 1)").contains("wait up to 30 s").contains("LINEAR");
    }

    @Test
    void shouldSayWhenMoreIsUsed() throws Exception {
        assertThat(machine.sluice("set", "job", "--memory", "512m").output())
                .contains("on GPU 0 now: nothing new is granted until it is below 512.0 MiB");
    }

    /// NVML does not know simulated GPUs, so nobody can say how many there are.
    @Test
    void shouldTakeAQuotaForAGpuNotUsedYet() throws Exception {
        var outcome = machine.sluice("set", "job", "--memory", "1=3g");

        assertThat(outcome.errors()).isEmpty();
        assertThat(outcome.output()).contains("3.0 GiB");
    }

    @Test
    void shouldSayOneLineAboutMistakes() throws Exception {
        assertMistake(1, "nobody", machine.sluice("set", "nobody", "--memory", "1g"));
        machine.with("LD_LIBRARY_PATH", Machine.SIM.toString());
        assertMistake(1, "GPU 7", machine.sluice("set", "job", "--memory", "7=1g"));
        assertMistake(2, "4x", machine.sluice("set", "job", "--memory", "4x"));
        end();
        assertMistake(1, "ended", machine.sluice("set", "job", "--memory", "1g"));
    }
}
