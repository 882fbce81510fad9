package sluice.agent.machine;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.cuda.Nvml;
import sluice.cuda.NvmlFacts;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// The GPUs of the machine: those that NVML lists, also if they do not answer, and other GPUs of tenants, such as simulated ones.
public final class Gpus {
    private static final int UNKNOWN = -1;
    private static final Nvml.Seen NOBODY = new Nvml.Seen(List.of(), List.of());

    private final Optional<Nvml> nvml;
    private final Optional<NvmlFacts> facts;
    private final Map<String, NvmlFacts.Facts> known = new ConcurrentHashMap<>();

    public Gpus(Optional<Nvml> nvml) {
        this.nvml = nvml;
        facts = nvml.map(NvmlFacts::new);
    }

    List<GpuLook> look(List<Tenant> tenants, Function<String, List<String>> health) {
        Map<String, GpuLook> gpus = new LinkedHashMap<>();
        Nvml.Seen seen = seen();
        for (Nvml.Gpu gpu : seen.gpus()) {
            gpus.put(gpu.uuid(), new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), gpu.usedBytes(), 0,
                    utilization(gpu.index()), temperature(gpu.index()), health.apply(gpu.uuid()), facts(gpu)));
        }
        Set<String> byNvml = Set.copyOf(gpus.keySet());
        for (Nvml.Silent gpu : seen.silent()) {
            gpus.put(gpu.uuid(), new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), 0, 0, UNKNOWN, UNKNOWN,
                    Stream.concat(Stream.of(gpu.silence().toString()), health.apply(gpu.uuid()).stream()).distinct().toList(),
                    known.getOrDefault(gpu.uuid(), NvmlFacts.Facts.UNKNOWN)));
        }
        for (Tenant tenant : tenants) {
            for (TenantGpu gpu : tenant.gpus()) {
                GpuLook before = gpus.getOrDefault(gpu.uuid(), new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), 0, 0,
                        UNKNOWN, UNKNOWN, List.of()));
                gpus.put(gpu.uuid(), plus(before, tenant.state().lives() ? gpu.usedBytes() : 0, byNvml.contains(gpu.uuid())));
            }
        }
        return gpus.values().stream().sorted(Comparator.comparingInt(GpuLook::index)).toList();
    }

    private static GpuLook plus(GpuLook gpu, long bytes, boolean byNvml) {
        return new GpuLook(gpu.index(), gpu.uuid(), gpu.name(), gpu.totalBytes(), gpu.usedBytes() + (byNvml ? 0 : bytes),
                gpu.tenantsBytes() + bytes, gpu.utilizationPercent(), gpu.temperatureCelsius(), gpu.health(), gpu.facts());
    }

    private NvmlFacts.Facts facts(Nvml.Gpu gpu) {
        return facts.map(library -> known.computeIfAbsent(gpu.uuid(), uuid -> library.of(gpu.index()))).orElse(NvmlFacts.Facts.UNKNOWN);
    }

    SortedMap<Integer, String> known() {
        return Nvml.uuids(seen().gpus());
    }

    /// A driver that does not answer counts as one without GPUs.
    private Nvml.Seen seen() {
        try {
            return nvml.map(Nvml::seen).orElse(NOBODY);
        } catch (IllegalStateException e) {
            return NOBODY;
        }
    }

    private int utilization(int index) {
        return nvml.map(library -> library.utilizationPercent(index)).orElse(UNKNOWN);
    }

    private int temperature(int index) {
        return nvml.map(library -> library.temperatureCelsius(index)).orElse(UNKNOWN);
    }
}
