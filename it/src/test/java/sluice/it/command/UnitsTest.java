package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.it.machine.Mistake.assertMistake;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// A limit is what the user meant, or Sluice refuses it. A program that reaches its limit gets a line that says so.
class UnitsTest extends OnMachine {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--memory  | 4        | write 4g, 4m or, for bytes, 4b",
        "--memory  | 0=4      | write 4g, 4m or, for bytes, 4b",
        "--compute | 25       | write 25%",
        "--compute | 0.25     | write 25% or 0.25%",
        "--memory  | 5=4g     | there is no GPU 5; this simulated machine has GPU 0",
        "--compute | 0=5%,1=5% | there is no GPU 1; this simulated machine has GPU 0"
    })
    void shouldRefuseALimitThatWouldMeanSomethingElse(String option, String value, String advice) throws Exception {
        assertMistake(2, advice, machine.sluice("run", "--sim", option, value, "--", "true"));
    }

    @ParameterizedTest
    @CsvSource({"SLUICE_MEMORY, 4", "SLUICE_MEMORY, 0=4", "SLUICE_COMPUTE, 25", "SLUICE_COMPUTE, 0.25"})
    void shouldRefuseItInVariablesToo(String variable, String value) throws Exception {
        var outcome = machine.preloaded(Map.of(variable, value, "SLUICE_ON_ERROR", "fail"), Machine.program("hog"), "--step", "256m", "--count", "1");
        assertThat(outcome.status()).isNotZero();
        assertThat(outcome.errors()).contains("sluice: " + variable + "=" + value + ": ").contains("CUDA calls fail");
    }

    @Test
    void shouldLetOlderToolsHaveTheirRules() throws Exception {
        var outcome = machine.preloaded(Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1073741824"), Machine.program("hog"), "--step", "256m");
        assertThat(outcome.output()).contains("got 4 ");
        assertThat(outcome.errors()).isEmpty();
    }

    @Test
    void shouldSayWhenALimitLimitsNothing() throws Exception {
        assertThat(machine.sluice("run", "--sim", "--memory", "64g", "--", Machine.program("hog"), "--step", "1g", "--count", "1").errors())
                .isEqualTo("sluice: the memory quota of GPU 0, 64.0 GiB, limits nothing: the GPU has 16.0 GiB\n");
        assertThat(machine.preloaded(Map.of("SLUICE_MEMORY", "5=4g"), Machine.program("hog"), "--step", "1g", "--count", "1").errors())
                .isEqualTo("sluice: a limit is for GPU 5, and this machine has 1 GPU; GPU 0 has no memory quota\n");
    }

    @Test
    void shouldSayWhatItUnderstood() throws Exception {
        assertThat(machine.sluice("run", "--sim", "-v", "--name", "job", "--memory", "4g", "--", "true").errors())
                .isEqualTo("sluice: job: memory 4.0 GiB, over the quota fail, compute none, weight none, priority normal, exclusive false, turn default (10 ms), "
                        + "strict false, reservoir none, prepared none, mapped false, on error fail\n");
        assertThat(machine.sluice("run", "--sim", "--memory", "4g", "--", "true").errors()).isEmpty();
    }

    @Test
    void shouldTellOfARefusedAllocation() throws Exception {
        String[] job = {"run", "--sim", "--name", "job", "--memory", "1g", "--", Machine.program("hog"), "--step", "256m"};
        assertThat(machine.sluice(job).errors()).isEqualTo("sluice: job: GPU 0: an allocation of 256.0 MiB was refused, 1.0 GiB of 1.0 GiB are used; "
                + "'sluice set job --memory 2g' raises the limit\n");
        machine.with("SLUICE_REFUSALS", "quiet");
        assertThat(machine.sluice(job).errors()).isEmpty();
    }

    @Test
    void shouldTellAProgramThatAskedForNothingNothing() throws Exception {
        assertThat(machine.preloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("hog"), "--step", "256m").errors()).isEmpty();
    }
}
