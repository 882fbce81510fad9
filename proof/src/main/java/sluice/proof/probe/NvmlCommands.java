package sluice.proof.probe;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import sluice.cuda.Nvml;
import sluice.proof.facts.Facts;

/// NVML's answers about GPU 0.
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

    /// The UUIDs of all, in the order of their numbers, and what each shows as its memory.
    static Facts gpus() {
        List<Nvml.Gpu> gpus = Nvml.open().map(Nvml::gpus).orElse(List.of());
        return Facts.of("uuids", gpus.stream().map(Nvml.Gpu::uuid).collect(Collectors.joining(",")),
                "totals", gpus.stream().map(gpu -> Long.toString(gpu.totalBytes())).collect(Collectors.joining(",")));
    }

    static Facts views() {
        Nvml nvml = Nvml.open().orElseThrow();
        Nvml.GpuMemory first = nvml.memoryV1(0);
        Nvml.GpuMemory second = nvml.memory(0);
        return Facts.of(
                "v1-total", first.totalBytes(), "v1-free", first.freeBytes(), "v1-used", first.usedBytes(),
                "v2-total", second.totalBytes(), "v2-free", second.freeBytes(), "v2-used", second.usedBytes(),
                "v1-processes", list(nvml.processes(0, 1)), "v2-processes", list(nvml.processes(0, 2)),
                "v3-processes", list(nvml.processes(0, 3)));
    }

    /// `pid:bytes` for each.
    static Facts processes() {
        return Facts.of("processes", list(Nvml.open().orElseThrow().processes(0)));
    }

    private static String list(List<Nvml.GpuProcess> processes) {
        return processes.stream().map(process -> process.pid() + ":" + process.usedBytes()).collect(Collectors.joining(","));
    }
}
