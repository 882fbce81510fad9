package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.it.machine.Mistake.assertMistake;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.layout.RegionLayout;

/// `sluice run` and what it does about mistakes and faults.
class RunTest extends OnMachine {
    @Test
    void shouldStopAProgramAtItsQuota() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--memory", "1g", "--", Machine.program("hog"), "--step", "256m");
        assertThat(outcome.output()).contains("total " + (1L << 30)).contains("got 4 " + (1L << 30) + " 2");
        assertThat(outcome.status()).isZero();
    }

    @Test
    void shouldBecomeTheProgram() throws Exception {
        Process process = machine.startSluice("run", "--sim", "--", "sh", "-c", "echo $$; exit 41");
        var outcome = Machine.await(process);
        assertThat(outcome.output().strip()).isEqualTo(String.valueOf(process.pid()));
        assertThat(outcome.status()).isEqualTo(41);
    }

    @Test
    void shouldLeaveSignalsToTheProgram() throws Exception {
        Process process = machine.startSluice("run", "--sim", "--", "sh", "-c", "echo ready; exec sleep 60");
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        process.destroy();
        assertThat(process.waitFor()).isEqualTo(128 + 15);
    }

    @Test
    void shouldLeaveNoFileOpenInTheProgram() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--", "sh", "-c", "ls -l /proc/$$/fd");
        assertThat(outcome.output()).doesNotContain("runtime").doesNotContain(".region");
    }

    @Test
    void shouldHoldEachGpuToItsOwnQuota() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        for (var expected : new String[] {"0=4", "1=8"}) {
            var outcome = machine.sluice("run", "--sim", "--memory", "0=1g,1=2g", "--", Machine.program("hog"),
                    "--step", "256m", "--device", expected.substring(0, 1));
            assertThat(outcome.output()).contains("got " + expected.substring(2) + " ");
        }
    }

    @Test
    void shouldFollowTheGpuAndNotItsNumber() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        var outcome = machine.sluice("run", "--sim", "--memory", "0=1g,1=2g", "--env", "CUDA_VISIBLE_DEVICES=1", "--",
                Machine.program("hog"), "--step", "256m");
        assertThat(outcome.output()).contains("got 8 ");
    }

    @Test
    void shouldPassVariables() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--env", "A=1", "--env", "B=x y", "--", "sh", "-c", "echo $A-$B");
        assertThat(outcome.output()).isEqualTo("1-x y\n");
    }

    @Test
    void shouldSayWhenTheProgramIsMissing() throws Exception {
        assertMistake(127, "no-such-program", machine.sluice("run", "--sim", "--", "no-such-program"));
        assertMistake(126, "chmod +x", machine.sluice("run", "--sim", "--", "/etc/passwd"));
    }

    /// The search goes on after it, as a shell's does, and then says what was wrong with the one that is there.
    @Test
    void shouldSayThatAProgramInThePathMayNotBeExecuted() throws Exception {
        Path first = Files.createDirectory(directory.resolve("first"));
        Path second = Files.createDirectory(directory.resolve("second"));
        Files.writeString(first.resolve("a-tool"), "#!/bin/sh\n");
        machine.with("PATH", first + ":" + second + ":" + System.getenv("PATH"));

        assertMistake(126, "a-tool", machine.sluice("run", "--sim", "--", "a-tool"));
    }

    @Test
    void shouldSayWhenThereIsNoDriver() throws Exception {
        Assumptions.assumeFalse(Files.exists(Path.of("/proc/driver/nvidia/version")), "this machine has a driver");
        assertMistake(125, "--sim", machine.sluice("run", "--", "true"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"4x", "-1", "0", "2=", "0=1g,0=2g", "99=1g", "1e9", ""})
    void shouldRefuseInvalidSizes(String size) throws Exception {
        assertMistake(2, "--memory", machine.sluice("run", "--sim", "--memory", size, "--", "true"));
    }

    @Test
    void shouldRefuseUnknownOptions() throws Exception {
        assertMistake(2, "--memry", machine.sluice("run", "--memry", "4g", "--", "true"));
        assertMistake(2, "program", machine.sluice("run", "--sim"));
        assertMistake(2, "rnu", machine.sluice("rnu"));
    }

    @Test
    void shouldRefuseTheNameOfARunningTenant() throws Exception {
        Process first = machine.startSluice("run", "--sim", "--name", "train", "--", "sh", "-c", "echo ready; exec sleep 60");
        first.inputReader().readLine();
        assertMistake(125, "train", machine.sluice("run", "--sim", "--name", "train", "--", "true"));
        first.destroyForcibly().waitFor();
        assertThat(machine.sluice("run", "--sim", "--name", "train", "--", "true").status()).isZero();
    }

    @Test
    void shouldSayWhenTheRuntimeDirectoryCannotBeUsed() throws Exception {
        Files.setPosixFilePermissions(machine.runtimeDirectory(), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertMistake(125, "700", machine.sluice("run", "--sim", "--", "true"));
        machine.with("SLUICE_RUNTIME_DIR", "/proc/no/such");
        assertMistake(125, "SLUICE_RUNTIME_DIR", machine.sluice("run", "--sim", "--", "true"));
    }

    @Test
    @Fault(kind = Fault.Kind.DAMAGE, of = "the region of a job at its start")
    void shouldFailCudaCallsWhenTheRegionIsOfAnotherLayout() throws Exception {
        Process process = machine.startSluice("run", "--sim", "--name", "t", "--memory", "1g", "--", "sh", "-c",
                "printf '\\143' | dd of=$SLUICE_REGION bs=1 seek=8 conv=notrunc 2>/dev/null; exec " + Machine.program("hog"));
        var outcome = Machine.await(process);
        assertThat(outcome.errors()).contains("layout 99").contains("layout " + RegionLayout.LAYOUT);
        assertThat(outcome.output() + outcome.errors()).contains("800");
    }

    @Test
    void shouldRunUnlimitedOnlyWhenAsked() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--on-error", "run", "--name", "t", "--memory", "1g", "--", "sh", "-c",
                "rm $SLUICE_REGION; exec " + Machine.program("hog") + " --step 512m --count 4");
        assertThat(outcome.errors()).contains("sluice: ").contains("without limits");
        assertThat(outcome.output()).contains("got 4 " + (2L << 30) + " 0");
    }
}
