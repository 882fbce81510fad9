package sluice.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.Machine.Outcome;
import sluice.it.machine.OnMachine;

/// Honest tenants beside one that writes random values to every word that it may write. Their library checks itself for wrong addresses and
/// undefined behaviour. `bench/soak/hostile.py` does it for longer.
@Fault(kind = Fault.Kind.DAMAGE, of = "region and boards, by a tenant that writes nonsense")
class HostileTest extends OnMachine {
    private static final Path BUILD = Machine.BUILT.resolve("../../../native/target/cmake").normalize();
    private static final int SECONDS = 8;

    @BeforeEach
    void prepare() {
        machine.with("SLUICE_SIM_GPUS", "2").with("SLUICE_SIM_CONTEXT", "32m");
        Assumptions.assumeTrue(Files.exists(BUILD.resolve("checked/libcuda.so.1")), "the checked library was not built here");
    }

    /// Those of its own region survive; those of another region keep all that is promised.
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldSurviveATenantThatWritesRandomBytes(int seed) throws Exception {
        Process mates = honest("mates", Map.of("SLUICE_COMPUTE", "50%"), seed, "--survive", "--longest", "10000");
        Process others = honest("others", Map.of("SLUICE_WEIGHT", "2"), seed, "--ways", "plain,vmm,array,launch", "--longest", "5000");

        Outcome hostile = machine.plain(Machine.program("hostile"), "--seed", "" + seed, "--seconds", "" + (SECONDS - 1), "--tenant", "mates");

        assertThat(hostile.status()).as(hostile.errors()).isZero();
        assertHeld("a tenant of another region", Machine.await(others));
        assertHeld("a process of the same region", Machine.await(mates));
    }

    private Process honest(String tenant, Map<String, String> settings, int seed, String... options) throws Exception {
        var command = new ArrayList<>(List.of(BUILD.resolve("test/storm_checked").toString(), "--seed", "" + seed, "--seconds", "" + SECONDS, "--quota", "1g",
                "--gpus", "2", "--threads", "2", "--processes", "2", "--kills", "700", "--patience", "20"));
        command.addAll(List.of(options));
        var all = new LinkedHashMap<>(settings);
        all.putAll(Map.of("SLUICE_TENANT", tenant, "SLUICE_DRIVER", Machine.SIM.resolve("libcuda.so.1").toString(), "LD_PRELOAD", "", "LD_LIBRARY_PATH",
                BUILD.resolve("checked") + ":" + Machine.SIM, "ASAN_OPTIONS", "detect_leaks=0", "UBSAN_OPTIONS", "print_stacktrace=1"));
        return machine.startPreloaded(all, command.toArray(String[]::new));
    }

    private static void assertHeld(String who, Outcome outcome) {
        assertThat(outcome.output()).as("%s: %s", who, outcome.errors()).contains("verdict=held");
        assertThat(outcome.status()).isZero();
    }
}
