package sluice.kubernetes.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// What NVIDIA's kernel module and the kernel tell about each GPU in files.
///
/// @param module folder with a folder for each GPU, named by its place on the bus
/// @param bus    folder of PCI devices
record KernelGpus(Path module, Path bus) {
    static final KernelGpus OF_MACHINE = new KernelGpus(Path.of("/proc/driver/nvidia/gpus"), Path.of("/sys/bus/pci/devices"));

    record Facts(Optional<Integer> numa, Optional<Integer> minor) {
        static final Facts NONE = new Facts(Optional.empty(), Optional.empty());
    }

    /// By UUID.
    Map<String, Facts> read() {
        Map<String, Facts> facts = new HashMap<>();
        try (Stream<Path> folders = Files.list(module)) {
            for (Path folder : folders.toList()) {
                Map<String, String> said = said(folder.resolve("information"));
                Optional.ofNullable(said.get("GPU UUID")).ifPresent(uuid -> facts.put(uuid, new Facts(
                        number(read(bus.resolve(folder.getFileName().toString().toLowerCase(Locale.ROOT)).resolve("numa_node"))).filter(node -> node >= 0),
                        number(said.getOrDefault("Device Minor", "")))));
            }
        } catch (IOException e) {
            // Without NVIDIA's module there are none.
        }
        return facts;
    }

    private static Map<String, String> said(Path file) {
        Map<String, String> said = new HashMap<>();
        for (String line : read(file).lines().toList()) {
            List<String> parts = List.of(line.split(":", 2));
            if (parts.size() == 2) {
                said.put(parts.getFirst().strip(), parts.getLast().strip());
            }
        }
        return said;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    private static Optional<Integer> number(String text) {
        try {
            return Optional.of(Integer.parseInt(text.strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
