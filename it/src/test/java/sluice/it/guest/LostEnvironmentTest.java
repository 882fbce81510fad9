package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Programs of a tenant that were started with an empty environment. The library is in the driver's place, so that it is in them all the same.
@Timeout(120)
class LostEnvironmentTest extends OnMachine {
    private static final int QUOTA_PIECES = 16;

    private Path installed;

    @BeforeEach
    void start() throws Exception {
        installed = Files.createDirectory(directory.resolve("installed"));
        Files.copy(Machine.LIBRARY, installed.resolve("libcuda.so.1"));
    }

    /// Two of them at once, which hold what they got; the shell stays their parent.
    private Process startTwo(Map<String, String> settings) throws Exception {
        String hog = "env -i LD_LIBRARY_PATH=%s SLUICE_DRIVER=%s SLUICE_SIM_STATE=%s SLUICE_SIM_CONTEXT=0 %s --step 64m --hold 600000"
                .formatted(installed, Machine.SIM.resolve("libcuda.so.1"), directory.resolve("gpu"), Machine.program("hog"));
        return machine.startPreloaded(settings, "sh", "-c", hog + " & " + hog + " & wait");
    }

    @Test
    void shouldShareTheQuotaOfTheCommandThatStartedThem() throws Exception {
        assertThat(Machine.pieces(startTwo(Map.of("SLUICE_MEMORY", "1g")), 2)).isEqualTo(QUOTA_PIECES);
        try (var files = Files.list(machine.runtimeDirectory())) {
            assertThat(files.filter(file -> file.toString().endsWith(".region"))).hasSize(1);
        }
    }

    @Test
    void shouldShareTheQuotaOfHami() throws Exception {
        assertThat(Machine.pieces(startTwo(Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1g", "CUDA_DEVICE_MEMORY_SHARED_CACHE", "/x.cache")), 2))
                .isEqualTo(QUOTA_PIECES);
    }

    /// The agent finds the tenant of a process by an ancestor that has registered.
    @Test
    void shouldBeOfTheTenantThatTheAgentKnows() throws Exception {
        Path socket = directory.resolve("register/agent-register.sock");
        Files.writeString(directory.resolve("policy"), "* -> memory=1g\n");
        Process agent = machine.startAgent("policy = " + directory.resolve("policy"), "register-socket = " + socket, "history-size = 2m");
        assertThat(Machine.pieces(startTwo(Map.of("SLUICE_AGENT", socket.toString(), "SLUICE_LABEL", "job")), 2)).isEqualTo(QUOTA_PIECES);
    }
}
