package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Many jobs register in one moment: every one of them is limited, and none waits for ever.
@Timeout(180)
class StartsAtOnceTest extends OnMachine {
    private static final int JOBS = 300;
    private static final String LIMITED = "total " + (64 << 20);

    @BeforeEach
    void start() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(directory.resolve("policy"), "* -> memory=64m weight=1\n");
    }

    private Process startAgent(String... more) throws Exception {
        List<String> lines = new ArrayList<>(List.of(more));
        lines.addAll(List.of("policy = " + directory.resolve("policy"), "register-socket = " + socket(), "history-size = 2m"));
        return machine.startAgent(lines.toArray(String[]::new));
    }

    private Path socket() {
        return directory.resolve("register/agent-register.sock");
    }

    /// Each job is a tenant of its own, and writes what it got to a file.
    private List<String> jobs(int count, String prefix) throws Exception {
        String script = "for i in $(seq " + count + "); do " + prefix + " env LD_PRELOAD=" + Machine.LIBRARY + " LD_LIBRARY_PATH=" + Machine.SIM
                + " SLUICE_AGENT=" + socket() + " " + Machine.program("hog") + " --step 1m --count 1 > " + directory + "/job-$i 2>&1 & done; wait";
        var outcome = machine.plain("sh", "-c", script);
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        List<String> outputs = new ArrayList<>();
        for (int job = 1; job <= count; job++) {
            outputs.add(Files.readString(directory.resolve("job-" + job)));
        }
        return outputs;
    }

    private static void assertLimited(List<String> outputs) {
        List<String> unlimited = outputs.stream().filter(output -> !output.contains(LIMITED)).toList();
        assertThat(unlimited.size()).as("jobs that ran without limits or failed, the first: " + unlimited.stream().findFirst().orElse("")).isZero();
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent, by many starts at once")
    void shouldLimitEachOfManyStartsAtOnce() throws Exception {
        startAgent();

        assertLimited(jobs(JOBS, ""));
    }

    @Tag("timed")
    @Test
    void shouldLimitManyStartsAtOnceWithinTenSeconds() throws Exception {
        startAgent();
        Instant began = Instant.now();

        assertLimited(jobs(JOBS, ""));

        assertThat(Duration.between(began, Instant.now())).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent, by many starts at once")
    void shouldLimitOneJobOfEachOfManyUsers() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "root is needed");
        Path state = Files.createFile(directory.resolve("gpu"));
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rw-rw-rw-"));
        startAgent();

        assertLimited(jobs(JOBS, "setpriv --reuid=$((64100+i)) --regid=64100 --clear-groups"));
    }

    /// SIGSTOP: the agent's socket takes connections, and nobody answers.
    @Test
    @Fault(kind = Fault.Kind.STOP, of = "the agent while jobs start")
    void shouldFailAfterTheBoundWhenTheAgentIsStopped() throws Exception {
        Process agent = startAgent("on-error = fail");
        machine.plain("kill", "-STOP", Long.toString(agent.pid()));
        Instant began = Instant.now();

        List<String> outputs = jobs(3, "");

        assertThat(Duration.between(began, Instant.now())).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(45));
        assertThat(outputs).allMatch(output -> output.contains("does not answer") && output.contains("CUDA calls fail") && !output.contains("got "));
        machine.plain("kill", "-CONT", Long.toString(agent.pid()));
    }

    @Test
    void shouldRunWithoutLimitsWhereTheMachineSaysSo() throws Exception {
        Process agent = startAgent("on-error = run");
        agent.destroyForcibly().waitFor();
        Files.delete(socket());

        assertThat(jobs(1, "").getFirst()).contains("no agent at SLUICE_AGENT=").contains("the program runs without limits");
    }

    /// A job that comes while the agent is away waits for the next one.
    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent while jobs start")
    void shouldWaitForAnAgentThatIsRestarted() throws Exception {
        Process first = startAgent();
        first.destroyForcibly().waitFor();
        Thread restart = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(1500);
                startAgent();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });

        List<String> outputs = jobs(5, "");
        restart.join();
        assertThat(outputs).allMatch(output -> output.contains(LIMITED));
    }
}
