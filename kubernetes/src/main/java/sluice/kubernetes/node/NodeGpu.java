package sluice.kubernetes.node;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// A GPU of this machine.
///
/// @param unfit why it must get no new work; empty: nothing that is known
/// @param kind  what the driver tells of it
/// @param place where it is in the machine
public record NodeGpu(String uuid, String name, long totalBytes, List<String> unfit, Kind kind, KernelGpus.Facts place) {
    private static final String PREFIX = "gpu-";

    /// Empty where the driver does not tell.
    ///
    /// @param capability for which programs are compiled, such as `9.0`
    /// @param driver     version of the driver
    public record Kind(String architecture, String capability, String driver) {}

    public NodeGpu {
        unfit = List.copyOf(unfit);
    }

    /// Its name in the cluster: the same for ever, and a DNS label.
    public String device() {
        String name = uuid.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9-]", "-");
        return name.startsWith(PREFIX) ? name : PREFIX + name;
    }

    /// The number of its device file; none for a simulated one.
    public Optional<Integer> minor() {
        return place.minor();
    }

    /// The same, when the node's agent no longer knows it.
    public NodeGpu vanished() {
        return new NodeGpu(uuid, name, totalBytes, List.of("the node no longer has it"), kind, place);
    }
}
