package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.it.machine.OnMachine;

/// A CUDA client that knows nothing of Sluice: JCuda's driver bindings, in a Java virtual machine of its own.
class ThirdPartyTest extends OnMachine {
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin/java").toString();

    @Test
    void shouldComputeTheSameAndBeHeld() throws Exception {
        String[] command = {JAVA, "--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=" + directory, "-cp",
            System.getProperty("java.class.path"), JCudaClient.class.getName()};
        var without = machine.bare(command);
        var with = machine.preloaded(Map.of("SLUICE_MEMORY", "1g"), command);
        assertThat(without.value("sum")).as(without.errors()).isEqualTo("4096");
        assertThat(with.value("sum")).as(with.errors()).isEqualTo("4096");
        assertThat(without.value("total")).isEqualTo(String.valueOf(16L << 30));
        assertThat(with.value("total")).isEqualTo(String.valueOf(1L << 30));
        assertThat(without.value("two_gib")).isEqualTo("0");
        assertThat(with.value("two_gib")).isEqualTo("2");
    }
}
