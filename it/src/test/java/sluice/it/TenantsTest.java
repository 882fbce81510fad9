package sluice.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Processes of one tenant share a quota, and people can see who holds what.
class TenantsTest {
    @TempDir
    private Path directory;

    private Machine machine;

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
    }

    @Test
    void shouldShowWhatARunningTenantHolds() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "2g", "--",
                Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "60000");
        try {
            Machine.awaitLine(job, "got ");
            var table = machine.sluice("ps");
            assertThat(table.output()).contains("job").contains("1.0 GiB").contains("2.0 GiB").contains(String.valueOf(job.pid()));
            var json = machine.sluice("ps", "--json");
            assertThat(json.output()).contains("\"" + "job" + "\"").contains(String.valueOf(1L << 30));
            assertThat(machine.sluice("inspect", "job").output()).contains("pid").contains("1.0 GiB").contains("layout 6");
        } finally {
            job.destroyForcibly().waitFor();
        }
        assertThat(machine.sluice("ps").output()).doesNotContain("job");
        assertThat(machine.sluice("ps", "--all").output()).contains("job").contains("ended");
    }

    @Test
    void shouldShareOneQuotaAmongSixteenProcesses() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--memory", "1g", "--",
                Machine.program("hog"), "--children", "16", "--step", "16m", "--hold", "1500");
        long pieces = outcome.lines().stream()
                .filter(line -> line.contains(" got "))
                .mapToLong(line -> Long.parseLong(line.replaceAll(".* got (\\d+) .*", "$1")))
                .sum();
        assertThat(pieces).isEqualTo(64);
    }

    @Test
    void shouldShareAmongTheCommandsOfOneShellWithTheLibraryAlone() throws Exception {
        String hog = Machine.program("hog") + " --step 16m --hold 1500";
        var outcome = machine.preloaded(Map.of("SLUICE_MEMORY", "1g"), "sh", "-c", hog + " & " + hog + " & wait");
        long pieces = outcome.lines().stream()
                .filter(line -> line.startsWith("got "))
                .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
                .sum();
        assertThat(pieces).as(outcome.output() + outcome.errors()).isEqualTo(64);
    }

    @Test
    void shouldKeepTwoCommandsWithEqualLimitsApart() throws Exception {
        Process first = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("hog"), "--hold", "1500");
        Process second = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("hog"), "--hold", "1500");
        assertThat(Machine.await(first).output()).contains("got 16 " + (1L << 30));
        assertThat(Machine.await(second).output()).contains("got 16 " + (1L << 30));
    }

    @Test
    void shouldSayOneLineAboutAnUnknownTenant() throws Exception {
        RunTest.assertMistake(1, "nobody", machine.sluice("inspect", "nobody"));
    }
}
