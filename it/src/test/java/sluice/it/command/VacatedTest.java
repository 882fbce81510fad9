package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// A vacated job comes back only where there is room, by whichever tool, and waits for it otherwise. The driver keeps memory for itself that NVML counts as
/// neither used nor free. The program compares every byte.
@Timeout(180)
class VacatedTest extends OnMachine {
    private static final String JOB_SECONDS = "90";
    private Process job;

    private static void until(String what, Callable<Boolean> holds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!holds.call()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            Thread.sleep(50);
        }
    }

    private void smallGpu() {
        machine.with("SLUICE_SIM_MEMORY", "1g").with("SLUICE_SIM_RESERVED", "600m").with("SLUICE_SIM_CONTEXT", "64m")
                .with("LD_LIBRARY_PATH", Machine.SIM.toString()); // so tools and the agent have the simulated NVML
    }

    private void startJob() throws Exception {
        job = machine.startSluice("run", "--sim", "--name", "train", "--mapped", "--", Machine.program("kept"), JOB_SECONDS, "2", "67108864", "1");
        Machine.awaitLine(job, "step ");
    }

    /// Takes memory without Sluice, so that less is left than the job needs.
    private Process startHog() throws Exception {
        Process hog = machine.startPreloaded(Map.of("LD_PRELOAD", ""), Machine.program("hog"), "--step", "4m", "--count", "205", "--hold", "90000");
        Thread.sleep(1000);
        assertThat(hog.isAlive()).isTrue();
        return hog;
    }

    private String ps() throws Exception {
        return machine.sluice("ps").output();
    }

    private void shouldGoOn() throws Exception {
        until("the job runs", () -> !ps().contains("train (") && job.isAlive());
        Machine.awaitLine(job, "step ");
    }

    @Test
    void shouldNotBePromisedByTheAgentWhatTheDriverKeeps() throws Exception {
        smallGpu();
        machine.startAgent();
        startJob();
        assertThat(machine.sluice("pause", "train", "--vacate").status()).isZero();
        Process hog = startHog();
        var asked = machine.sluice("resume", "train", "--no-wait");
        assertThat(asked.status()).as(asked.errors()).isZero();
        Thread.sleep(3000);
        assertThat(ps()).contains("train (resuming").contains("has looked for room on the GPU");
        hog.destroyForcibly().waitFor();
        shouldGoOn();
    }

    @Test
    void shouldWaitForRoomWithoutAnAgentAndSaySo() throws Exception {
        smallGpu();
        startJob();
        assertThat(machine.sluice("pause", "train", "--vacate").status()).isZero();
        Process hog = startHog();
        var late = machine.sluice("resume", "train", "--timeout", "1s");
        assertThat(late.status()).isEqualTo(124);
        assertThat(late.errors()).contains("needs").contains("no agent looks; 'sluice resume train' goes on with it");
        assertThat(machine.sluice("resume", "train", "--timeout", "1s", "--json").output()).contains("\"state\" : \"running\"");
        hog.destroyForcibly().waitFor();
        assertThat(machine.sluice("resume", "train").status()).isZero();
        shouldGoOn();
    }

    /// The driver stores its state while the time is over. The job is back when the command ends.
    @Test
    void shouldComeBackWhenAVacateIsWithdrawnHalfWay() throws Exception {
        machine.with("SLUICE_SIM_CHECKPOINT", "400");
        startJob();
        var late = machine.sluice("pause", "train", "--vacate", "--timeout", "700ms");
        assertThat(late.status()).as(late.output() + late.errors()).isEqualTo(124);
        assertThat(late.errors()).contains("the pause is withdrawn", "it does what it did before");
        shouldGoOn();
    }

    /// It waits for room when its agent dies. It follows the next one, which looks for it.
    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent, while a vacated job waits for room")
    void shouldFollowTheNextAgentWhileItWaitsForRoom() throws Exception {
        smallGpu();
        Path socket = directory.resolve("register/agent-register.sock");
        Files.writeString(directory.resolve("policy"), "* -> mapped=true\n");
        String[] settings = {"policy = " + directory.resolve("policy"), "register-socket = " + socket};
        Process agent = machine.startAgent(settings);
        job = machine.startPreloaded(Map.of("SLUICE_AGENT", socket.toString(), "SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString()),
                Machine.program("kept"), JOB_SECONDS, "2", "67108864", "7");
        Machine.awaitLine(job, "step ");
        var names = Pattern.compile("\"tenant\" ?: ?\"(kept-[0-9]+)\"").matcher(machine.askAgent("/v1/tenants"));
        assertThat(names.find()).isTrue();
        String name = names.group(1);
        var vacated = machine.sluice("pause", name, "--vacate");
        assertThat(vacated.status()).as(vacated.errors()).isZero();
        Process hog = startHog();
        assertThat(machine.sluice("resume", name, "--no-wait").status()).isZero();
        until("it waits for room", () -> machine.askAgent("/v1/tenants").contains("\"room\""));

        agent.destroyForcibly().waitFor();
        machine.startAgent(settings);
        until("the next agent has it", () -> machine.askAgent("/v1/tenants").contains(name));
        Thread.sleep(1500);
        hog.destroyForcibly().waitFor();

        until("it runs", () -> machine.askAgent("/v1/tenants").contains("\"state\":\"running\""));
        Machine.awaitLine(job, "step ");
        assertThat(machine.askAgent("/metrics")).containsPattern("(?m)^sluice_tenant_releases_total\\{[^}]*\\} 1\\.0$")
                .containsPattern("sluice_tenant_paused_seconds_total\\{[^}]*\\} [0-9.E-]+").containsPattern("sluice_tenant_moved_bytes_total\\{[^}]*direction=\"back\"[^}]*\\} [1-9]");
    }

    @Test
    void shouldTellEachStepOfItsLife() throws Exception {
        machine.startAgent();
        startJob();
        for (String depth : new String[] {"", "--release", "--vacate"}) {
            var paused = depth.isEmpty() ? machine.sluice("pause", "train") : machine.sluice("pause", "train", depth);
            assertThat(paused.status()).as(paused.errors()).isZero();
            Thread.sleep(1500);
        }
        assertThat(machine.sluice("resume", "train").status()).isZero();
        until("events", () -> {
            String machineNow = machine.askAgent("/v1/machine");
            return machineNow.contains("\"kind\":\"paused\"") && machineNow.contains("\"kind\":\"released\"") && machineNow.contains("\"kind\":\"resumed\"");
        });
    }
}
