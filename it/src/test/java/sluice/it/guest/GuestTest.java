package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// What other limiters do to the programs they are in, and Sluice must not.
class GuestTest extends OnMachine {
    private static final Map<String, String> QUOTA = Map.of("SLUICE_MEMORY", "1g", "SLUICE_TENANT", "guest");
    private static final List<String> INHERITED = List.of("SigCgt:", "SigIgn:", "SigBlk:", "Umask:", "Threads:");

    @Test
    void shouldKeepCountingAProcessWithAnOddName() throws Exception {
        Path odd = Files.copy(Path.of(Machine.program("hog")), directory.resolve("a Zed) x"));
        Process first = machine.startPreloaded(QUOTA, odd.toString(), "--step", "256m", "--count", "3", "--hold", "60000");
        Machine.awaitLine(first, "got ");
        assertThat(machine.preloaded(QUOTA, Machine.program("hog"), "--step", "256m").output()).contains("got 1 ");
        first.destroyForcibly().waitFor();
        assertThat(machine.preloaded(QUOTA, Machine.program("hog"), "--step", "256m").output()).contains("got 4 ");
    }

    /// A process with a context has one thread of the library, for pauses; all its signals are blocked. With its first thread glibc takes the
    /// signals 32 and 33, which a program never sees.
    @Test
    void shouldLeaveSignalsAndUmaskAlone() throws Exception {
        String[] command = {Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "60000"};
        var bare = statusOf(machine.startPreloaded(Map.of("LD_PRELOAD", ""), command));
        var limited = statusOf(machine.startPreloaded(QUOTA, command));
        assertThat(bare).hasSize(INHERITED.size()).contains("Threads:\t1");
        assertThat(limited).contains("Threads:\t2");
        assertThat(ofTheProgram(limited)).isEqualTo(ofTheProgram(bare));
    }

    /// Not even where the library could not work: there is nobody to tell.
    @Test
    void shouldBeNothingToAProgramWithoutCuda() throws Exception {
        Map<String, String> hopeless = Map.of("SLUICE_MEMORY", "1g", "SLUICE_RUNTIME_DIR", "/proc/nowhere", "SLUICE_ON_ERROR", "fail",
                "SLUICE_LOG", "debug");
        String java = Machine.HOME.resolve("runtime/bin/java").toString();
        for (String[] command : List.of(new String[] {"/bin/sh", "-c", "umask; trap; echo done"}, new String[] {java, "-version"})) {
            var without = machine.plain(command);
            var with = machine.preloaded(hopeless, command);
            assertThat(with.status()).isZero();
            assertThat(with).isEqualTo(without);
        }
        assertThat(machine.runtimeDirectory()).isEmptyDirectory();
    }

    @Test
    void shouldLeaveNoFileOpen() throws Exception {
        Process job = machine.startPreloaded(QUOTA, Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "60000");
        Machine.awaitLine(job, "got ");
        try (var descriptors = Files.list(Path.of("/proc/" + job.pid() + "/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                assertThat(Files.readSymbolicLink(descriptor).toString()).doesNotContain(".region");
            }
        }
    }

    private static List<String> ofTheProgram(List<String> status) {
        long ofGlibc = 3L << 31;
        return status.stream().filter(line -> !line.startsWith("Threads")).map(line -> line.startsWith("Sig")
                ? line.substring(0, 8) + Long.toHexString(Long.parseUnsignedLong(line.substring(8), 16) & ~ofGlibc) : line).toList();
    }

    private static List<String> statusOf(Process job) throws Exception {
        try {
            Machine.awaitLine(job, "got ");
            return Files.readAllLines(Path.of("/proc/" + job.pid() + "/status")).stream()
                    .filter(line -> INHERITED.stream().anyMatch(line::startsWith))
                    .toList();
        } finally {
            job.destroyForcibly().waitFor();
        }
    }
}
