package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.place.AgentLock;

/// Closing any descriptor of a file drops a process's POSIX locks on it; the agent's lock must be of the other kind.
@Timeout(120)
class AgentLockTest {
    private static final int REFUSED = 1;

    @TempDir
    private Path folder;

    private RunningAgent agent;
    private AgentLock lock;

    @BeforeEach
    void start() throws Exception {
        agent = new RunningAgent(folder);
        lock = AgentLock.take(agent.directory(), ProcessHandle.current().pid()).orElseThrow();
    }

    @AfterEach
    void stop() {
        agent.close();
        lock.close();
    }

    @Test
    void shouldKeepItsLockWhenAShareIsSet() throws Exception {
        agent.tenantOnGpu("train");
        assertThat(startSecond()).isEqualTo(REFUSED);

        assertThat(agent.client().ask("PATCH", "/v1/tenants/train/limits", "{\"weight\": 3}".getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(200);

        assertThat(startSecond()).as("status of a second agent").isEqualTo(REFUSED);
        assertThat(AgentLock.holder(agent.directory())).contains(ProcessHandle.current().pid());
    }

    private int startSecond() throws Exception {
        String path = Stream.of(System.getProperty("jdk.module.path"), System.getProperty("java.class.path"), "target/test-classes", "target/classes")
                .filter(Objects::nonNull).collect(Collectors.joining(File.pathSeparator));
        return new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp", path, "--enable-native-access=ALL-UNNAMED",
                SecondAgent.class.getName(), agent.directory().path().toString()).inheritIO().start().waitFor();
    }
}
