package sluice.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ProcFileTest {
    private static long openFiles() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    @Test
    void shouldReadWhatTheKernelTells() throws IOException {
        assertThat(new String(ProcFile.read("self", "comm"), StandardCharsets.UTF_8)).isEqualTo(Files.readString(Path.of("/proc/self/comm")));
        assertThat(ProcFile.read("self", "stat")).startsWith(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void shouldFailForAProcessThatIsGone() {
        assertThatThrownBy(() -> ProcFile.read("4194305", "stat")).isInstanceOf(IOException.class).hasMessageContaining("/proc/4194305/stat");
    }

    /// The agent keeps command lines of all processes.
    @Test
    void shouldCutALongCommandLine() throws Exception {
        long before = openFiles();
        Process child = new ProcessBuilder("sh", "-c", "echo here; read line", "x".repeat(100_000)).start();
        assertThat(child.inputReader().readLine()).isEqualTo("here");

        byte[] line = ProcFile.read(Long.toString(child.pid()), "cmdline");
        child.destroyForcibly().waitFor();
        child.inputReader().close();

        assertThat(new String(line, StandardCharsets.UTF_8)).startsWith("sh").hasSize(ProcFile.MOST_BYTES);
        assertThat(openFiles()).isLessThanOrEqualTo(before + 4);
    }
}
