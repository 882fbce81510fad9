package sluice.kubernetes.node;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// A GPU of this machine.
///
/// @param health what is wrong with it; empty: nothing that is known
/// @param numa   the memory node that it is near to
/// @param minor  the number of its device file; none for a simulated one
public record NodeGpu(String uuid, String name, long totalBytes, List<String> health, Optional<Integer> numa, Optional<Integer> minor) {
    private static final String PREFIX = "gpu-";

    public NodeGpu {
        health = List.copyOf(health);
    }

    /// Its name in the cluster: the same for ever, and a DNS label.
    public String device() {
        String name = uuid.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9-]", "-");
        return name.startsWith(PREFIX) ? name : PREFIX + name;
    }
}
