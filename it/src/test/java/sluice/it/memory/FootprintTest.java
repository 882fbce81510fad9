package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// What the driver takes for itself, contexts, code and stacks, is in the ledger to the byte, and held to the quota.
class FootprintTest extends OnMachine {
    private static final long MIB = 1 << 20;
    private static final long CONTEXT = 64 * MIB;

    @BeforeEach
    void start() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "64m");
    }

    @ParameterizedTest
    @ValueSource(strings = {"primary", "released", "second", "module", "unloaded", "library", "stack", "unstacked", "memory",
        "destroyed", "reset", "back"})
    void shouldAccountWhatTheDriverTook(String step) throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "8g", "--",
                Machine.program("footprint"), "--hold", step);
        assertThat(Machine.awaitLine(job, step + " ")).startsWith(step + " 0 ");
        Tenant tenant = Tenant.read(machine.runtimeDirectory().resolve("job.region"));
        assertThat(tenant.gpus().stream().mapToLong(TenantGpu::usedBytes).sum()).isEqualTo(takenBytes());
        MemoryUses uses = tenant.gpus().getFirst().uses();
        assertThat(uses.contextBytes()).isEqualTo(switch (step) {
            case "reset" -> 0;
            case "primary", "released", "destroyed", "back" -> CONTEXT;
            default -> 2 * CONTEXT;
        });
        assertThat(uses.overheadBytes()).isEqualTo(switch (step) {
            case "module", "library" -> 64 * MIB;
            case "stack" -> 4_152_360_960L;
            default -> 0;
        });
    }

    /// As a process outside sees the GPU, less its own context.
    private long takenBytes() throws Exception {
        String line = machine.bare(Machine.program("hog"), "--count", "0").lines().getFirst();
        String[] words = line.split(" ");
        return Long.parseLong(words[1]) - Long.parseLong(words[3]) - CONTEXT;
    }

    @Test
    void shouldUndoWhatPassesTheQuota() throws Exception {
        var outcome = machine.sluice("run", "--sim", "--memory", "150m", "--", Machine.program("footprint"));
        assertThat(outcome.lines()).containsAll(List.of("second 0 " + 2 * CONTEXT, "module 2 " + 2 * CONTEXT,
                "library 2 " + 2 * CONTEXT, "stack 2 " + 2 * CONTEXT, "unstacked 0 " + 2 * CONTEXT));
    }

    @Test
    void shouldRefuseAContextThatDoesNotFit() throws Exception {
        var tenant = Map.of("SLUICE_MEMORY", "100m", "SLUICE_TENANT", "small");
        assertThat(machine.preloaded(tenant, Machine.program("footprint")).output()).contains("second 2 " + CONTEXT);
        var none = machine.preloaded(Map.of("SLUICE_MEMORY", "60m"), Machine.program("footprint"));
        assertThat(none.output()).startsWith("primary 2 ");
        assertThat(none.status()).isEqualTo(4);
    }

    /// The parent learns what a context takes and lends no room to the children.
    @Test
    void shouldCountTheContextsOfAllProcesses() throws Exception {
        Process job = machine.startSluice("run", "--sim", "--memory", "1g", "--",
                Machine.program("hog"), "--children", "8", "--step", "16m", "--hold", "600000");
        List<String> lines = Machine.awaitLines(job, ".*(got|init) .*", 8);
        long refused = lines.stream().filter(line -> line.contains("init 2")).count();
        assertThat(Machine.pieces(lines)).isEqualTo((1024 - (8 - refused) * 64) / 16);
    }
}
