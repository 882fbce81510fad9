package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;
import sluice.region.boards.Board;
import sluice.region.place.RuntimeDirectory;

/// Programs that were set up for culocker hold the GPU in its windows, on the board of the GPU. `window_test.c` looks at each step.
@Timed
class LockerTest extends OnMachine {
    private static final int ATTEMPTS = 30;

    private Process start(Map<String, String> settings, String... options) throws Exception {
        var all = new LinkedHashMap<>(settings);
        all.put("LD_PRELOAD", Machine.link("cuda_override.so"));
        var command = new ArrayList<>(List.of(Machine.program("windows"), machine.kernels()));
        command.addAll(List.of(options));
        return machine.startPreloaded(all, command.toArray(String[]::new));
    }

    private void run(Map<String, String> settings, String... options) throws Exception {
        var outcome = Machine.await(start(settings, options));
        assertThat(outcome.output()).as(outcome.errors()).startsWith("done " + options[0] + " ");
    }

    private Path board() {
        return Board.files(new RuntimeDirectory(machine.runtimeDirectory())).getFirst();
    }

    /// How often a program with these switches holds the GPU, while another always waits for it.
    private long holds(String switches, String... options) throws Exception {
        run(Map.of("SLUICE_TENANT", "first"), "1", "100");
        var settings = new LinkedHashMap<>(Map.of("SLUICE_TENANT", "job"));
        for (String one : switches.split(" ")) {
            settings.put("CUDA_OVERRIDE_" + one.substring(0, one.indexOf('=')), one.substring(one.indexOf('=') + 1));
        }
        try (var other = new AlwaysWaiting(board())) {
            run(settings, options);
            return other.holdsOf("job");
        } finally {
            Files.delete(board());
        }
    }

    /// A busy machine makes windows of fewer kernels, and so more holds. Where the other's thread gets no processor nobody waits for the GPU, and
    /// there are fewer. `window_test.c` has no clock and no other.
    private static void assertHolds(long expected, Again.Look<Long> look) throws Exception {
        Again.between(expected, expected, () -> (double) look.take());
    }

    /// Of 24 kernels the first hold has N, all others N + 1; with 0 each has one. In time mode the window counts from the last
    /// drain that was forced, so a microsecond is over when the turn comes back. culocker began 0 and time with a hold in which
    /// nothing ran; who has nothing to let go here does not wait for it first.
    @ParameterizedTest
    @CsvSource({
        "KERNEL_N_SYNC=0, 24",
        "KERNEL_N_SYNC=3, 7",
        "KERNEL_N_SYNC=10, 3",
        "KERNEL_N_SYNC=24, 1",
        "MAX_SYNC_MS=0.001, 24",
        "ALWAYS_LOCK=1, 24",
    })
    void shouldHoldTheGpuForTheKernelsOfAWindow(String switches, long expected) throws Exception {
        assertHolds(expected, () -> holds(switches, "24", "100"));
    }

    /// With one skip every second sync lets go. One that is skipped does not set the count back: at 3 it is 4 kernels, then 5 at a time.
    @ParameterizedTest
    @CsvSource({
        "KERNEL_N_SYNC=0 SYNC_LOCK_SKIPS=1, 13",
        "KERNEL_N_SYNC=3 SYNC_LOCK_SKIPS=1, 5",
        "KERNEL_N_SYNC=0 SYNC_LOCK_SKIPS=2, 9",
    })
    void shouldHoldTheGpuThroughSyncsThatAreSkipped(String switches, long expected) throws Exception {
        assertHolds(expected, () -> holds(switches, "24", "100"));
    }

    @ParameterizedTest
    @CsvSource({
        "KERNEL_N_SYNC=10, 24",
        "KERNEL_N_SYNC=10 SYNC_LOCK_SKIPS=2, 8",
    })
    void shouldLetTheGpuGoAfterCopiesThatWait(String switches, long expected) throws Exception {
        assertHolds(expected, () -> holds(switches, "24", "100", "--copy"));
    }

    /// The turn comes back after 0.2 ms or more, so the fourth kernel of 0.46 ms is asked for before and the fifth after 2 ms. A
    /// machine that is busy makes windows of fewer kernels, or of more where the other's thread stands still, which may take attempts.
    @ParameterizedTest
    @CsvSource({"2, 7", "20, 1"})
    void shouldHoldTheGpuForTheTimeOfAWindow(String millis, long expected) throws Exception {
        var seen = new ArrayList<Long>();
        while (seen.size() < ATTEMPTS && !seen.contains(expected)) {
            seen.add(holds("MAX_SYNC_MS=" + millis, "25", "460", "--poll"));
        }
        assertThat(seen).contains(expected);
    }

    /// Two that really run take turns as often as their windows say.
    @ParameterizedTest
    @CsvSource({"0, 100, 100000", "1000, 0, 40"})
    void shouldHandTheGpuOverAfterEachWindow(String operations, long least, long most) throws Exception {
        Again.between(least, most, () -> handOvers(operations));
    }

    private double handOvers(String operations) throws Exception {
        var jobs = new ArrayList<Process>();
        for (int i = 0; i < 2; i++) {
            jobs.add(start(Map.of("CUDA_OVERRIDE_KERNEL_N_SYNC", operations), "200", "200"));
        }
        for (var job : jobs) {
            assertThat(Machine.await(job).output()).startsWith("done 200 ");
        }
        try (var board = Board.openReadOnly(board())) {
            return board.turn().handOvers() + board.turn().seized();
        } finally {
            Files.delete(board());
        }
    }
}
