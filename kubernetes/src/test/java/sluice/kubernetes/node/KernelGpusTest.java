package sluice.kubernetes.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.kubernetes.FakeAgent;

/// The files of NVIDIA's kernel module and of the bus, as a machine with two GPUs has them.
class KernelGpusTest {
    @TempDir
    private Path folder;

    private KernelGpus kernel;

    @BeforeEach
    void make() throws IOException {
        kernel = new KernelGpus(folder.resolve("proc/driver/nvidia/gpus"), folder.resolve("sys/bus/pci/devices"));
        Files.createDirectories(kernel.bus());
        gpu("0000:1B:00.0", "GPU-0000", "3", "pci0000:15/0000:15:01.0/0000:1b:00.0", "1\n");
        gpu("0001:C8:00.0", "GPU-0001", "12", "pci0001:c0/0001:c8:00.0", "-1\n"); // of a machine with one memory node
    }

    /// The module writes the place in capitals, the bus does not.
    private void gpu(String place, String uuid, String minor, String device, String numa) throws IOException {
        Path of = Files.createDirectories(kernel.module().resolve(place));
        Files.writeString(of.resolve("information"), "Model: \t\t NVIDIA H200\nIRQ:   \t\t 18\nGPU UUID: \t " + uuid + "\nBus Location: \t " + place.toLowerCase(Locale.ROOT) + "\nDevice Minor: \t " + minor + "\n");
        Path real = Files.createDirectories(folder.resolve("sys/devices").resolve(device));
        Files.writeString(real.resolve("numa_node"), numa);
        Files.createSymbolicLink(kernel.bus().resolve(real.getFileName()), real);
    }

    @Test
    void shouldReadWhereEachGpuIs() {
        assertThat(kernel.read()).hasSize(2)
                .containsEntry("GPU-0000", new KernelGpus.Facts(Optional.of(1), Optional.of(3), Optional.of("pci0000:15")))
                .containsEntry("GPU-0001", new KernelGpus.Facts(Optional.empty(), Optional.of(12), Optional.of("pci0001:c0")));
    }

    @Test
    void shouldTellNothingThatTheKernelDoesNotTell() throws IOException {
        Files.writeString(kernel.module().resolve("0000:1B:00.0/information"), "GPU UUID: \t GPU-0000\nDevice Minor: \t many\n");
        Files.delete(kernel.bus().resolve("0000:1b:00.0"));
        Files.writeString(kernel.module().resolve("0001:C8:00.0/information"), "nonsense");

        assertThat(kernel.read()).containsExactly(Map.entry("GPU-0000", KernelGpus.Facts.NONE));
        assertThat(new KernelGpus(folder.resolve("nowhere"), kernel.bus()).read()).isEmpty();
    }

    @Test
    void shouldTellThemOfTheGpusThatTheAgentKnows() throws IOException {
        try (FakeAgent _ = new FakeAgent(folder.resolve("agent/agent.sock"))) {
            List<NodeGpu> gpus = new NodeAgent(folder.resolve("agent/agent.sock"), kernel).gpus();

            assertThat(gpus.stream().map(NodeGpu::minor)).containsExactly(Optional.of(3), Optional.of(12));
            assertThat(gpus.getFirst().place().root()).contains("pci0000:15");
        }
    }
}
