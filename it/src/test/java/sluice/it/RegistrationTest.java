package sluice.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Jobs that have nothing but the agent's socket are held to its policy.
@Timeout(120)
class RegistrationTest {
    private static final long GIB = 1L << 30;

    @TempDir
    private Path directory;

    private Machine machine;
    private Process agent;

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
        Files.writeString(directory.resolve("policy"), "label=timed -> memory=2g compute=50%\n* -> memory=1g\n");
        startAgent();
    }

    private void startAgent() throws Exception {
        agent = machine.startAgent("policy = " + directory.resolve("policy"), "register-socket = " + socket(), "history-size = 2m");
    }

    private Path socket() {
        return directory.resolve("register/agent-register.sock");
    }

    @AfterEach
    void stop() throws Exception {
        agent.destroyForcibly().waitFor();
    }

    /// The job's runtime directory is not the agent's.
    private Map<String, String> environment(String label) {
        return Map.of("SLUICE_AGENT", socket().toString(), "SLUICE_LABEL", label, "SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString());
    }

    @Test
    void shouldHoldAJobToTheQuotaOfThePolicy() throws Exception {
        var outcome = machine.preloaded(environment("job"), Machine.program("hog"), "--step", "64m");

        assertThat(outcome.output()).contains("total " + GIB).contains("got 16 " + GIB + " 2");
        assertThat(directory.resolve("nowhere")).doesNotExist();
        assertThat(machine.sluice("ps", "--all").output()).contains("hog-").contains("1.0 GiB");
    }

    @Test
    void shouldCapTheTimeOfAJob() throws Exception {
        var outcome = machine.preloaded(environment("timed"), Machine.program("hog"), "--step", "64m");

        assertThat(outcome.output()).contains("got 32 " + 2 * GIB + " 2");
        assertThat(outcome.errors()).doesNotContain("board");
    }

    @Test
    void shouldGoOnWithoutTheAgentAndBeTakenOverByTheNext() throws Exception {
        Process job = machine.startPreloaded(environment("job"), Machine.program("hog"), "--step", "64m", "--count", "4", "--hold", "8000", "--exec", "1");
        Machine.awaitLine(job, "got ");
        agent.destroyForcibly().waitFor();
        startAgent();

        assertThat(machine.sluice("ps").output()).contains("hog-").contains("256.0 MiB").contains("1.0 GiB");
        var outcome = Machine.await(job);
        assertThat(outcome.errors()).as("the new image registers anew").doesNotContain("without limits");
        assertThat(machine.sluice("ps", "--all").output().lines().filter(each -> each.contains("hog-"))).hasSize(1);
    }

    @Test
    void shouldFallBackWhenThereIsNoAgent() throws Exception {
        agent.destroyForcibly().waitFor();
        Files.deleteIfExists(socket());
        var run = machine.preloaded(environment("job"), Machine.program("hog"), "--step", "1g", "--count", "2");
        assertThat(run.errors()).contains("no agent at SLUICE_AGENT=").contains("the program runs without limits");
        assertThat(run.output()).contains("got 2 ");

        var failing = machine.with("SLUICE_ON_ERROR", "fail").preloaded(environment("job"), Machine.program("hog"), "--count", "1");
        assertThat(failing.errors()).contains("CUDA calls fail");
    }
}
