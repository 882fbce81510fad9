package sluice.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import sluice.agent.MachineLook.GpuLook;
import sluice.cuda.Nvml;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// The GPUs of the machine: those that NVML knows, and those of tenants that it does not, such as simulated ones.
final class Gpus {
    private static final int UNKNOWN = -1;

    private final Optional<Nvml> nvml;

    Gpus(Optional<Nvml> nvml) {
        this.nvml = nvml;
    }

    List<GpuLook> look(List<Tenant> tenants, Function<String, List<String>> health) {
        Map<String, GpuLook> gpus = new LinkedHashMap<>();
        for (Nvml.Gpu gpu : known()) {
            gpus.put(gpu.uuid(), new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), gpu.usedBytes(), 0,
                    utilization(gpu.index()), temperature(gpu.index()), health.apply(gpu.uuid())));
        }
        Map<String, Boolean> byNvml = new LinkedHashMap<>();
        gpus.keySet().forEach(uuid -> byNvml.put(uuid, true));
        for (Tenant tenant : tenants) {
            for (TenantGpu gpu : tenant.gpus()) {
                GpuLook before = gpus.getOrDefault(gpu.uuid(), new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), 0, 0,
                        UNKNOWN, UNKNOWN, List.of()));
                gpus.put(gpu.uuid(), plus(before, tenant.running() ? gpu.usedBytes() : 0, byNvml.containsKey(gpu.uuid())));
            }
        }
        return new ArrayList<>(gpus.values());
    }

    private static GpuLook plus(GpuLook gpu, long bytes, boolean byNvml) {
        return new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), gpu.usedBytes() + (byNvml ? 0 : bytes),
                gpu.tenantsBytes() + bytes, gpu.utilizationPercent(), gpu.temperatureCelsius(), gpu.health());
    }

    List<Nvml.Gpu> known() {
        try {
            return nvml.map(Nvml::gpus).orElse(List.of());
        } catch (IllegalStateException e) {
            return List.of();
        }
    }

    private int utilization(int index) {
        return nvml.map(library -> library.utilizationPercent(index)).orElse(UNKNOWN);
    }

    private int temperature(int index) {
        return nvml.map(library -> library.temperatureCelsius(index)).orElse(UNKNOWN);
    }
}
