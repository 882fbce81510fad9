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
public record KernelGpus(Path module, Path bus) {
    static final KernelGpus OF_MACHINE = new KernelGpus(Path.of("/proc/driver/nvidia/gpus"), Path.of("/sys/bus/pci/devices"));

    /// @param numa  the memory node that it is near to
    /// @param minor the number of its device file; none for a simulated one
    /// @param root  the PCI root that it is below, such as `pci0000:00`
    public record Facts(Optional<Integer> numa, Optional<Integer> minor, Optional<String> root) {
        public static final Facts NONE = new Facts(Optional.empty(), Optional.empty(), Optional.empty());
    }

    /// By UUID.
    Map<String, Facts> read() {
        Map<String, Facts> facts = new HashMap<>();
        try (Stream<Path> folders = Files.list(module)) {
            for (Path folder : folders.toList()) {
                Map<String, String> said = said(folder.resolve("information"));
                Path device = bus.resolve(folder.getFileName().toString().toLowerCase(Locale.ROOT));
                Optional.ofNullable(said.get("GPU UUID")).ifPresent(uuid -> facts.put(uuid, new Facts(
                        number(read(device.resolve("numa_node"))).filter(node -> node >= 0), number(said.getOrDefault("Device Minor", "")), root(device))));
            }
        } catch (IOException e) {
            // Without NVIDIA's module there are none.
        }
        return facts;
    }

    private static Optional<String> root(Path device) {
        try {
            for (Path part : device.toRealPath()) {
                if (part.toString().matches("pci[0-9a-f]{4,8}:[0-9a-f]{2}")) {
                    return Optional.of(part.toString());
                }
            }
        } catch (IOException e) {
            // Then the kernel does not tell.
        }
        return Optional.empty();
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
