package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.fault.Fault;
import sluice.it.machine.Machine;

/// Released memory of registered jobs lies in the agent's host memory, and outlives the agent. The program compares every byte.
@Timeout(180)
@Isolated
class AgentReservoirTest {
    private static final long MIB = 1L << 20;

    @TempDir
    private Path directory;

    private Machine machine;
    private Process agent;
    private Process job;

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
        Files.writeString(directory.resolve("policy"), "* -> memory=2g mapped=true\n");
    }

    private void startAgent(String reservoir) throws Exception {
        agent = machine.startAgent("policy = " + directory.resolve("policy"), "register-socket = " + socket(), "reservoir = " + reservoir);
    }

    private Path socket() {
        return directory.resolve("register/agent-register.sock");
    }

    private void startJob(String seconds) throws Exception {
        job = machine.startPreloaded(Map.of("SLUICE_AGENT", socket().toString(), "SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString()),
                Machine.program("kept"), seconds, "2", "33554432", "7");
        Machine.awaitLine(job, "step ");
    }

    @AfterEach
    void stop() throws Exception {
        if (job != null) {
            job.destroyForcibly().waitFor();
        }
        if (agent != null) {
            agent.destroyForcibly().waitFor();
        }
        machine.close();
    }

    private String tenant() throws Exception {
        var names = Pattern.compile("\"tenant\" ?: ?\"(kept-[0-9]+)\"").matcher(machine.askAgent("/v1/tenants"));
        assertThat(names.find()).isTrue();
        return names.group(1);
    }

    private long metric(String name) throws Exception {
        var found = Pattern.compile("(?m)^" + name + "(?:\\{.*\\})? ([0-9.E+]+)$").matcher(machine.askAgent("/metrics"));
        assertThat(found.find()).as(name).isTrue();
        return (long) Double.parseDouble(found.group(1));
    }

    private static boolean eventually(Callable<Boolean> holds) throws Exception {
        for (int look = 0; look < 100; look++) {
            if (holds.call()) {
                return true;
            }
            Thread.sleep(100);
        }
        return false;
    }

    private void release(String name) throws Exception {
        var released = machine.sluice("pause", name, "--release");
        assertThat(released.status()).as(released.output() + released.errors()).isZero();
    }

    private void resumeAndEnd(String name) throws Exception {
        var resumed = machine.sluice("resume", name);
        assertThat(resumed.status()).as(resumed.output() + resumed.errors()).isZero();
        var outcome = Machine.await(job);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
    }

    @Test
    void shouldKeepReleasedMemoryInTheAgent() throws Exception {
        startAgent("1g");
        startJob("10");
        String name = tenant();

        release(name);

        assertThat(eventually(() -> metric("sluice_tenant_away_bytes") > 0)).as("seen by the next look").isTrue();
        long away = metric("sluice_tenant_away_bytes");
        assertThat(metric("sluice_reservoir_budget_bytes")).isEqualTo(1024 * MIB);
        assertThat(metric("sluice_reservoir_granted_bytes")).isGreaterThanOrEqualTo(away);
        assertThat(metric("sluice_reservoir_taken_bytes")).isGreaterThanOrEqualTo(away);
        assertThat(Files.readString(Path.of("/proc", Long.toString(job.pid()), "maps"))).contains("memfd:sluice-reservoir");
        assertThat(machine.askAgent("/v1/reservoir")).containsPattern("\"budgetBytes\" ?: ?" + 1024 * MIB).containsPattern("\"processes\" ?: ?1");
        resumeAndEnd(name);
        assertThat(eventually(() -> metric("sluice_reservoir_granted_bytes") == 0 && metric("sluice_reservoir_taken_bytes") == 0)).isTrue();
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's reservoir")
    void shouldRefuseWhatTheReservoirHasNotAndMoveNothing() throws Exception {
        startAgent("2m");
        startJob("6");
        String name = tenant();

        var refused = machine.sluice("pause", name, "--release");

        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.output() + refused.errors()).contains("of host memory, the agent's reservoir has 2.0 MiB for it");
        assertThat(metric("sluice_tenant_away_bytes")).isZero();
        var outcome = Machine.await(job);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent, while it has released memory of a job")
    void shouldLoseNothingWhenTheAgentIsKilled() throws Exception {
        startAgent("1g");
        startJob("8");
        String name = tenant();
        release(name);

        agent.destroyForcibly().waitFor();
        startAgent("1g");

        assertThat(eventually(() -> machine.askAgent("/v1/tenants").contains(name))).isTrue();
        resumeAndEnd(name);
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "a job whose memory is in the agent")
    void shouldTakeBackTheMemoryOfAJobThatWasKilled() throws Exception {
        startAgent("1g");
        startJob("60");
        release(tenant());
        assertThat(metric("sluice_reservoir_taken_bytes")).isPositive();

        job.destroyForcibly().waitFor();

        assertThat(eventually(() -> metric("sluice_reservoir_taken_bytes") == 0 && metric("sluice_reservoir_granted_bytes") == 0)).isTrue();
    }
}
