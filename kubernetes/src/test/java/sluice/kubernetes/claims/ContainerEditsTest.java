package sluice.kubernetes.claims;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/// The device files of a container.
class ContainerEditsTest {
    private static final Path LIBRARY = Path.of("/opt/sluice/lib");
    private static final Path REGISTER = Path.of("/run/sluice/register/agent-register.sock");

    private static Object nodes(Optional<String> driver, Optional<ContainerEdits.Simulated> simulated, Optional<Integer> minor) {
        return new ContainerEdits(LIBRARY, REGISTER, simulated, driver).of("token", List.of("GPU-1"), minor).get("deviceNodes");
    }

    @Test
    void shouldNameTheDeviceFilesWhereNothingElseBringsThem() {
        List<Map<String, String>> ofAll = List.of(Map.of("path", "/dev/nvidiactl"), Map.of("path", "/dev/nvidia-uvm"), Map.of("path", "/dev/nvidia-uvm-tools"));

        assertThat(nodes(Optional.empty(), Optional.empty(), Optional.of(12))).asInstanceOf(InstanceOfAssertFactories.LIST)
                .containsAll(ofAll).contains(Map.of("path", "/dev/nvidia12")).hasSize(4);
        assertThat(nodes(Optional.empty(), Optional.empty(), Optional.empty())).as("the kernel does not tell the number").isEqualTo(ofAll);
    }

    /// CUDA shows a container the GPUs whose device files it has. The simulated ones have none.
    @Test
    void shouldHideOtherSimulatedGpus() {
        ContainerEdits simulated = new ContainerEdits(LIBRARY, REGISTER, Optional.of(new ContainerEdits.Simulated(Path.of("/sim"), Path.of("/run/gpus"), Map.of("SLUICE_SIM_GPUS", "4"))), Optional.empty());

        assertThat(simulated.of("token", List.of("GPU-1", "GPU-3"), Optional.empty()).get("env")).asInstanceOf(InstanceOfAssertFactories.LIST).contains("CUDA_VISIBLE_DEVICES=GPU-1,GPU-3", "SLUICE_SIM_GPUS=4", "SLUICE_SIM_STATE=/run/gpus");
        assertThat(new ContainerEdits(LIBRARY, REGISTER, Optional.empty(), Optional.empty()).of("token", List.of("GPU-1"), Optional.empty()).get("env")).asString().doesNotContain("CUDA_VISIBLE");
    }

    @Test
    void shouldLeaveThemToNvidiasDevices() {
        assertThat(nodes(Optional.of("nvidia.com/gpu"), Optional.empty(), Optional.of(0))).isNull();
        assertThat(nodes(Optional.empty(), Optional.of(new ContainerEdits.Simulated(Path.of("/sim"), Path.of("/run/gpus"), Map.of("SLUICE_SIM_GPUS", "4"))), Optional.empty())).isNull();
    }
}
