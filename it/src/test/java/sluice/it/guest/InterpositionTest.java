package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Every way in which a program can come to a driver function leads to the same function with Sluice as without.
class InterpositionTest extends OnMachine {
    private static final Map<String, String> QUOTA = Map.of("SLUICE_MEMORY", "1g");

    @Test
    void shouldGiveTheSameFunctionForEveryLookUpOfTheCudaRuntime() throws Exception {
        String lookUps = Path.of("src/test/resources/cudart13-lookups.txt").toAbsolutePath().toString();
        var without = machine.bare(Machine.program("matrix"), lookUps);
        var with = machine.preloaded(QUOTA, Machine.program("matrix"), lookUps);
        assertThat(without.lines()).hasSize(440);
        assertThat(without.output()).contains("cuMemAlloc 3020 0 0 cuMemAlloc_v2 0 cuMemAlloc_v2");
        assertThat(with.output()).isEqualTo(without.output());
        assertThat(with.status()).isEqualTo(without.status());
    }

    @Test
    void shouldGiveTheSameAnswersOnAnOldDriver() throws Exception {
        machine.with("SLUICE_SIM_DRIVER", "11040");
        String lookUps = Path.of("src/test/resources/cudart13-lookups.txt").toAbsolutePath().toString();
        var without = machine.bare(Machine.program("matrix"), lookUps);
        assertThat(without.output()).contains("NULL");
        assertThat(machine.preloaded(QUOTA, Machine.program("matrix"), lookUps).output()).isEqualTo(without.output());
    }

    @Test
    void shouldHoldALinkedProgram() throws Exception {
        var without = machine.bare(Machine.program("linked"), String.valueOf(2L << 30));
        var with = machine.preloaded(QUOTA, Machine.program("linked"), String.valueOf(2L << 30));
        assertThat(without.output()).contains("cuMemAlloc_v2 0");
        assertThat(with.output()).contains("cuMemAlloc_v2 2");
    }

    @Test
    void shouldHoldAProgramWhenInstalledAsTheDriver() throws Exception {
        Path driver = Files.createDirectory(directory.resolve("driver")).resolve("libcuda.so.1");
        Files.copy(Machine.LIBRARY, driver);
        machine.with("LD_LIBRARY_PATH", driver.getParent() + ":" + Machine.SIM)
                .with("SLUICE_DRIVER", Machine.SIM.resolve("libcuda.so.1").toString())
                .with("SLUICE_MEMORY", "1g");
        var linked = machine.plain(Machine.program("linked"), String.valueOf(2L << 30));
        assertThat(linked.output()).contains("cuMemAlloc_v2 2");
        var loaded = machine.plain(Machine.program("hog"), "--step", "256m");
        assertThat(loaded.output()).contains("got 4 " + (1L << 30) + " 2");
    }
}
