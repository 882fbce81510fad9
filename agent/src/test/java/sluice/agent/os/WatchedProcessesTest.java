package sluice.agent.os;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.region.place.Identity;

@Timeout(60)
class WatchedProcessesTest {
    private static final long ANY_PROGRAM = 0;

    private static long openFiles() throws Exception {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    /// A program that answers is past execve, and so has its command line.
    private static void say(Process child, String lines, String answer) throws Exception {
        child.outputWriter().append(lines).append('\n').flush();
        assertThat(child.inputReader().readLine()).isEqualTo(answer);
    }

    @Test
    void shouldSeeAnEndWithoutLooking() throws Exception {
        try (WatchedProcesses processes = new WatchedProcesses()) {
            Process child = new ProcessBuilder("cat").start();
            say(child, "here", "here");
            Identity identity = Identity.of(child.pid()).orElseThrow();
            assertThat(processes.isAlive(identity, ANY_PROGRAM)).isTrue();
            assertThat(processes.commandLine(identity)).isEqualTo("cat");
            assertThat(processes.poll()).isFalse();

            child.destroyForcibly().waitFor();

            assertThat(processes.poll()).isTrue();
            assertThat(processes.isAlive(identity, ANY_PROGRAM)).isFalse();
            assertThat(processes.poll()).isFalse();
        }
    }

    @Test
    void shouldAskAgainForAMissingCommandLine() throws Exception {
        try (WatchedProcesses processes = new WatchedProcesses()) {
            Process child = new ProcessBuilder("bash", "-c", "exec -a '' bash").start();
            say(child, "echo here", "here");
            Identity identity = Identity.of(child.pid()).orElseThrow();
            assertThat(processes.commandLine(identity)).isEmpty();

            say(child, "exec cat\nthere", "there");

            assertThat(processes.commandLine(identity)).isEqualTo("cat");
            child.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldNotTakeTheNextOwnerOfAPidForTheOld() {
        try (WatchedProcesses processes = new WatchedProcesses()) {
            Identity self = Identity.self();
            assertThat(processes.isAlive(self, ANY_PROGRAM)).isTrue();
            assertThat(processes.isAlive(Identity.of(self.pid(), self.startTicks() - 1), ANY_PROGRAM)).isFalse();
        }
    }

    /// The kernel is asked instead, and nothing is missed.
    @Test
    void shouldOpenNoMoreThanABoundOfProcesses() throws Exception {
        try (WatchedProcesses processes = new WatchedProcesses()) {
            for (int image = 1; image <= 512; image++) {
                assertThat(processes.isAlive(Identity.self(), image)).as("another program").isFalse();
            }
            Process child = new ProcessBuilder("sleep", "100").start();
            Identity identity = Identity.of(child.pid()).orElseThrow();
            long before = openFiles();
            assertThat(processes.isAlive(identity, ANY_PROGRAM)).isTrue();
            assertThat(openFiles()).isEqualTo(before);
            child.destroyForcibly().waitFor();

            assertThat(processes.isAlive(identity, ANY_PROGRAM)).isFalse();
        }
    }

    @Test
    void shouldKeepNoFileOpen() throws Exception {
        long before = openFiles();
        try (WatchedProcesses processes = new WatchedProcesses()) {
            for (int child = 0; child < 20; child++) {
                Process process = new ProcessBuilder("sleep", "100").start();
                assertThat(processes.isAlive(Identity.of(process.pid()).orElseThrow(), ANY_PROGRAM)).isTrue();
                process.destroyForcibly().waitFor();
                assertThat(processes.poll()).isTrue();
            }
            assertThat(openFiles()).isLessThan(before + 10);
        }
    }
}
