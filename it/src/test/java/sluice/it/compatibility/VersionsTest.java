package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.boards.Boards;
import sluice.region.place.RuntimeDirectory;

/// The library of the version in `spec/compatible.txt` with today's tools, and today's library with that version's tools.
class VersionsTest extends OnMachine {
    /// As `sluice ps` and `sluice set`, on the classes of the base version.
    private static final String OLD_TOOLS = """
            import java.nio.file.Path;
            import java.util.List;
            import sluice.region.*;
            import sluice.region.boards.*;
            import sluice.region.limits.*;
            import sluice.region.place.*;

            void main(String[] words) {
                RuntimeDirectory directory = new RuntimeDirectory(Path.of(words[0]));
                if (words.length > 1) {
                    LimitsChange.ofMemory(MemoryChange.parse(words[2])).apply(directory.region(words[1]));
                }
                new Tenants(List.of(directory)).look(Processes.BY_PROC).unreadable().forEach(IO::println);
                for (Tenant tenant : new Tenants(List.of(directory)).list()) {
                    IO.println(tenant.name() + " processes " + tenant.liveProcesses().size() + " limit " + tenant.limits()
                            + " used " + tenant.gpus().stream().mapToLong(TenantGpu::usedBytes).sum());
                }
                for (BoardState board : Boards.read(directory)) {
                    IO.println("a board with " + board.handOvers() + " hand-overs");
                }
            }
            """;

    private BaseVersion base;
    /// By a path without spaces, because LD_PRELOAD has no way to name another.
    private String oldLibrary;

    @BeforeEach
    void start() throws Exception {
        base = BaseVersion.build();
        oldLibrary = Files.createSymbolicLink(directory.resolve("libsluice.so"), base.library()).toString();
    }

    @AfterEach
    void end() throws Exception {
        if (machine != null) {
            machine.close();
        }
    }

    private void hold(String library, String tenant) throws Exception {
        Process job = machine.startPreloaded(Map.of("LD_PRELOAD", library, "SLUICE_TENANT", tenant, "SLUICE_MEMORY", "1g", "SLUICE_WEIGHT", "3"),
                Machine.program("hog"), "--step", "256m", "--count", "3", "--hold", "60000");
        Machine.awaitLine(job, "got ");
    }

    private String oldTools(String... words) throws Exception {
        Path source = Files.writeString(directory.resolve("Tools.java"), OLD_TOOLS);
        var outcome = machine.plain(base.program(source, words).toArray(String[]::new));
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        return outcome.output();
    }

    @Test
    void shouldShowAndChangeAJobOfTheOlderLibrary() throws Exception {
        hold(oldLibrary, "old");

        assertThat(machine.sluice("ps").output()).contains("old").contains("768.0 MiB").contains("1.0 GiB").doesNotContain("cannot");
        assertThat(machine.sluice("inspect", "old").output()).contains("768.0 MiB").contains("weight 3");
        assertThat(machine.sluice("inspect", "old", "--json").output()).as("a field that the older library does not have").containsPattern("\"strict\" ?: ?false");
        var changed = machine.sluice("set", "old", "--memory", "2g", "--weight", "2", "--compute", "90%", "--strict");
        assertThat(changed.status()).as(changed.errors()).isZero();
        Process more = machine.startPreloaded(Map.of("LD_PRELOAD", oldLibrary, "SLUICE_TENANT", "old"), Machine.program("hog"), "--step", "256m", "--hold", "60000");
        assertThat(Machine.awaitLine(more, "got ")).as("2 GiB less 768 MiB").startsWith("got 5 ");
        assertThat(machine.sluice("stat", "old").output()).contains("cuMemAlloc");
    }

    @Test
    void shouldJoinTheRegionOfTodaysRun() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "1g", "--", "env", "LD_PRELOAD=" + oldLibrary,
                Machine.program("hog"), "--step", "256m", "--hold", "60000");

        assertThat(Machine.awaitLine(job, "got ")).startsWith("got 4 ");
        assertThat(machine.sluice("ps").output()).contains("job").contains("1.0 GiB");
    }

    @Test
    void shouldShareOneQuotaBetweenBothLibraries() throws Exception {
        hold(oldLibrary, "both");
        Process today = machine.startPreloaded(Map.of("SLUICE_TENANT", "both", "SLUICE_MEMORY", "1g"), Machine.program("hog"), "--step", "256m", "--hold", "60000");
        assertThat(Machine.awaitLine(today, "got ")).as("the older library has the other three").startsWith("got 1 ");
        assertThat(machine.sluice("ps", "--json").output()).contains("\"state\"").contains(String.valueOf(1L << 30));
    }

    @Test
    void shouldTakeTurnsOnOneBoard() throws Exception {
        Process old = machine.startPreloaded(Map.of("LD_PRELOAD", oldLibrary, "SLUICE_TENANT", "old", "SLUICE_WEIGHT", "2"),
                Machine.program("gated"), machine.kernels(), "plain");
        var today = machine.preloaded(Map.of("SLUICE_TENANT", "new", "SLUICE_WEIGHT", "3"), Machine.program("gated"), machine.kernels(), "plain");

        assertThat(today.status()).as(today.errors()).isZero();
        assertThat(today.errors()).doesNotContain("board");
        var older = Machine.await(old);
        assertThat(older.status()).as(older.errors()).isZero();
        assertThat(older.errors()).doesNotContain("board").doesNotContain("cannot be preloaded");
        assertThat(Boards.read(new RuntimeDirectory(machine.runtimeDirectory()))).hasSize(1);
        assertThat(oldTools(machine.runtimeDirectory().toString())).contains("a board with");
    }

    @Test
    void shouldBeShownAndChangedByTheOlderTools() throws Exception {
        hold(Machine.LIBRARY.toString(), "new");
        String folder = machine.runtimeDirectory().toString();

        assertThat(oldTools(folder)).contains("new processes 1").contains("used " + (768L << 20));
        assertThat(oldTools(folder, "new", "2g")).contains("new processes 1 limit 2.0 GiB");
        assertThat(machine.sluice("ps").output()).contains("2.0 GiB");
    }
}
