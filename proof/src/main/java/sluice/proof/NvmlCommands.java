package sluice.proof;

import java.util.Optional;
import sluice.cuda.Nvml;

/// What the management library says about GPU 0.
final class NvmlCommands {
    private NvmlCommands() {}

    static Facts gpu() {
        Optional<Nvml> nvml = Nvml.open();
        if (nvml.isEmpty() || nvml.get().gpus().isEmpty()) {
            return Facts.of("available", false);
        }
        Nvml.Gpu gpu = nvml.get().gpus().getFirst();
        return Facts.of("available", true, "driver", nvml.get().driverVersion(), "uuid", gpu.uuid(),
                "used", gpu.usedBytes(), "processes", nvml.get().processes(0).size());
    }
}
