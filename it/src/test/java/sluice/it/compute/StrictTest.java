package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// A user who asks for a strict cap is told where there is none.
class StrictTest extends OnMachine {
    private static final String NOT_STRICT = "its cap is not strict, a kernel that takes longer is repaid: time slices are ";

    private Process job(String... options) throws Exception {
        String[] words = new String[options.length + 11];
        String[] begin = {"run", "--sim", "--name", "job", "--compute", "50%"};
        String[] end = {"--", Machine.program("windows"), machine.kernels(), "10000000", "1000"};
        System.arraycopy(begin, 0, words, 0, begin.length);
        System.arraycopy(options, 0, words, begin.length, options.length);
        System.arraycopy(end, 0, words, begin.length + options.length, end.length);
        return machine.startSluice(words);
    }

    private String awaitInspect(String text) throws Exception {
        String seen = "";
        for (int look = 0; look < 100 && !seen.contains(text); look++) {
            Thread.sleep(50);
            seen = machine.sluice("inspect", "job").output();
        }
        return seen;
    }

    @Test
    void shouldSayAtTheStartThatTimeSlicesAreOff() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--compute", "10%", "--strict", "--", "true");

        assertThat(outcome.status()).isZero();
        assertThat(outcome.errors()).contains("--strict cannot be enforced, because time slices are off (SLUICE_SLICES)").containsPattern("--env SLUICE_SLICES=(auto|1)\n");
        assertThat(machine.sluice("run", "--sim", "--compute", "10%", "--strict", "--env", "SLUICE_SLICES=1", "--", "true").errors()).doesNotContain("strict");
        assertThat(machine.sluice("run", "--sim", "--compute", "10%", "--", "true").errors()).doesNotContain("strict");
    }

    @Test
    void shouldBeMarkedWhereTimeSlicesAreOff() throws Exception {
        job("--strict");

        assertThat(awaitInspect(NOT_STRICT)).contains("compute   50%, strict").contains(NOT_STRICT + "off: SLUICE_SLICES turns them off");
        assertThat(machine.sluice("ps").output()).contains("50% strict").contains("job: " + NOT_STRICT + "off: SLUICE_SLICES turns them off");
        assertThat(machine.sluice("ps", "--json").output()).contains("time slices are off: SLUICE_SLICES turns them off");
        assertThat(machine.sluice("set", "job", "--no-strict").output()).contains("strict false (was true)");
        assertThat(machine.sluice("ps").output()).doesNotContain("strict");
    }

    @Test
    void shouldSayWhyTheDriverDoesNotServe() throws Exception {
        machine.with("SLUICE_SIM_RM", "set@2+=0x1b");
        Process job = job("--strict", "--env", "SLUICE_SLICES=1");

        assertThat(awaitInspect(NOT_STRICT)).contains(NOT_STRICT + "off: the driver refused a control call");
        assertThat(machine.sluice("ps").output()).contains("job: " + NOT_STRICT + "off: the driver refused a control call");
        job.toHandle().destroyForcibly();
        assertThat(new String(job.getErrorStream().readAllBytes())).contains("does not control time slices of the GPU: the driver refused a control call");
    }

    @Test
    void shouldSayNothingWhereTimeSlicesAreOn() throws Exception {
        job("--strict", "--env", "SLUICE_SLICES=1");

        assertThat(awaitInspect("slices    on")).contains("50%, strict").contains("slices    on").doesNotContain("not strict");
        assertThat(machine.sluice("ps").output()).contains("50% strict").doesNotContain("not strict");
    }

    @Test
    void shouldBeRefusedWithoutACap() throws Exception {
        var run = machine.sluice("run", "--sim", "--strict", "--", "true");
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.errors()).contains("add a cap, as in --compute 10% --strict");

        machine.startSluice("run", "--sim", "--name", "job", "--", Machine.program("windows"), machine.kernels(), "10000000", "1000");
        awaitInspect("alive");
        var set = machine.sluice("set", "job", "--strict");
        assertThat(set.status()).isNotZero();
        assertThat(set.errors()).contains("--compute 10% --strict");
        assertThat(machine.sluice("set", "job", "--strict", "--compute", "30%").status()).isZero();
    }
}
