package sluice.kubernetes.claims;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.model.NodeClaim;

/// What a container gets, besides its part of a GPU, from the files of this node.
///
/// @param library   the folder with `libsluice.so` on the node; a container sees it at the same path
/// @param register  the socket on which jobs register with the agent. Its folder is mounted, because a new agent makes a new socket
/// @param simulated the folder of a simulated driver, whose state all containers share; none on a node with GPUs
/// @param driver    kind of the CDI devices, named by UUID, that bring NVIDIA's own files and device nodes, such as `nvidia.com/gpu`; none: device nodes alone
public record ContainerEdits(Path library, Path register, Optional<Simulated> simulated, Optional<String> driver) {
    /// @param libraries folder of `libcuda.so.1`
    /// @param state     file of the simulated GPUs, in a folder of its own
    /// @param settings  variables `SLUICE_SIM_…`, which must be the same for all processes that share the GPUs
    public record Simulated(Path libraries, Path state, Map<String, String> settings) {
        public static final String PREFIX = "SLUICE_SIM_";
    }

    /// NVIDIA's runtime does nothing then. Else it would bring all GPUs into a container whose image asks for them, as images with CUDA do.
    private static final String NOTHING_OF_RUNTIME = "NVIDIA_VISIBLE_DEVICES=void";
    private static final List<String> NODES_OF_ALL = List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools");

    /// Whether device files have to be named here, because nothing else brings them.
    boolean namesNodes() {
        return simulated.isEmpty() && driver.isEmpty();
    }

    /// As CDI has them.
    ///
    /// @param gpus  UUIDs of all GPUs of the container. A simulated driver hides the others by them: its GPUs are no device files
    /// @param minor number of the GPU's device file
    public Map<String, Object> of(String token, List<String> gpus, Optional<Integer> minor) {
        List<String> environment = new ArrayList<>(List.of("LD_PRELOAD=" + library.resolve("libsluice.so"), "SLUICE_AGENT=" + register,
                "SLUICE_LABEL=" + NodeClaim.LABEL + token, "SLUICE_ON_ERROR=fail"));
        List<Map<String, Object>> mounts = new ArrayList<>(List.of(mount(library, "ro"), mount(register.getParent(), "ro")));
        simulated.ifPresent(driverOf -> {
            environment.add("LD_LIBRARY_PATH=" + driverOf.libraries());
            driverOf.settings().forEach((name, value) -> environment.add(name + "=" + value));
            environment.add("SLUICE_SIM_STATE=" + driverOf.state());
            environment.add("CUDA_VISIBLE_DEVICES=" + String.join(",", gpus));
            mounts.add(mount(driverOf.libraries(), "ro"));
            mounts.add(mount(driverOf.state().getParent(), "rw"));
        });
        if (simulated.isEmpty()) {
            environment.add(NOTHING_OF_RUNTIME);
        }
        List<Map<String, Object>> nodes = new ArrayList<>();
        if (namesNodes()) {
            NODES_OF_ALL.forEach(node -> nodes.add(Map.of("path", node)));
            minor.ifPresent(number -> nodes.add(Map.of("path", "/dev/nvidia" + number)));
        }
        return nodes.isEmpty() ? Map.of("env", environment, "mounts", mounts) : Map.of("env", environment, "mounts", mounts, "deviceNodes", nodes);
    }

    private static Map<String, Object> mount(Path path, String mode) {
        return Map.of("hostPath", path.toString(), "containerPath", path.toString(), "options", List.of(mode, "nosuid", "nodev", "rbind"));
    }
}
