package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// What becomes of an allocation over the quota: refused and written down, or it waits.
class OverQuotaTest extends OnMachine {
    private static final long GIB = 1L << 30;

    @BeforeEach
    void start() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "0").with("SLUICE_LOG", "info");
    }

    @Test
    void shouldRefuseAtOnceAndWriteDownHowMuchWasAskedFor() throws Exception {
        var outcome = run("fail", "--count", "24");
        assertThat(outcome.output()).contains("got 16 " + GIB + " 2");
        assertThat(outcome.errors()).contains("67108864 bytes was refused").doesNotContain("waits");
        assertThat(machine.sluice("inspect", "job").output()).contains("67108864 bytes was refused");
    }

    @Test
    void shouldAdmitWhatWaitsWhenTheLimitIsRaised() throws Exception {
        Process job = startJob("wait:30s", "--count", "24");
        awaitLine(job.errorReader(), "waits for room");
        machine.sluice("set", "job", "--memory", "2g");
        assertThat(Machine.await(job).output()).contains("got 24 " + 24 * GIB / 16 + " 0");
    }

    @Test
    void shouldRefuseWhatWaitsWhenWaitingIsEnded() throws Exception {
        Process job = startJob("wait:30s", "--count", "24");
        awaitLine(job.errorReader(), "waits for room");
        machine.sluice("set", "job", "--on-oom", "fail");
        assertThat(Machine.await(job).output()).contains("got 16 " + GIB + " 2");
    }

    @Test
    void shouldRefuseInTheEnd() throws Exception {
        var outcome = run("wait:300ms", "--count", "24");
        assertThat(outcome.output()).contains("got 16 " + GIB + " 2");
        assertThat(outcome.errors()).contains("waits for room").contains("was refused");
    }

    @Test
    void shouldNotWaitForWhatCanNeverFit() throws Exception {
        var outcome = run("wait:30s", "--step", "2g");
        assertThat(outcome.output()).contains("got 0 0 2");
        assertThat(outcome.errors()).doesNotContain("waits");
    }

    private Machine.Outcome run(String onOom, String... options) throws Exception {
        return Machine.await(startJob(onOom, options));
    }

    private Process startJob(String onOom, String... options) throws Exception {
        var arguments = new ArrayList<>(List.of(
                "run", "--sim", "--name", "job", "--memory", "1g", "--on-oom", onOom, "--", Machine.program("hog")));
        arguments.addAll(List.of(options));
        return machine.startSluice(arguments.toArray(String[]::new));
    }

    private static void awaitLine(BufferedReader lines, String word) throws Exception {
        String line = lines.readLine();
        while (line != null && !line.contains(word)) {
            line = lines.readLine();
        }
        assertThat(line).isNotNull();
    }
}
