package sluice.agent.audit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import sluice.agent.audit.AuditSuspect.OnGpu;
import sluice.cuda.Nvml;
import sluice.cuda.NvmlProcesses;

/// The processes on the GPUs, by NVML. A GPU that does not answer counts as empty.
final class AuditNvml implements Supplier<List<OnGpu>> {
    private final NvmlProcesses processes;
    private final Map<Integer, String> uuids = new TreeMap<>();

    AuditNvml(Nvml nvml) {
        processes = new NvmlProcesses(nvml);
        Nvml.Seen seen = nvml.seen();
        seen.gpus().forEach(gpu -> uuids.put(gpu.index(), gpu.uuid()));
        seen.silent().forEach(gpu -> uuids.put(gpu.index(), gpu.uuid()));
    }

    /// By number, also of GPUs that are silent.
    Map<Integer, String> uuids() {
        return uuids;
    }

    @Override
    public List<OnGpu> get() {
        List<OnGpu> all = new ArrayList<>();
        uuids.forEach((gpu, uuid) -> {
            try {
                all.addAll(on(gpu, uuid));
            } catch (IllegalStateException e) {
                // Lost, or being reset: its health shows it.
            }
        });
        return all;
    }

    private List<OnGpu> on(int gpu, String uuid) {
        Map<Long, Long> bytes = new HashMap<>();
        // A process is listed once for each instance of MIG that it is on.
        processes.computing(gpu).forEach(process -> bytes.merge(process.pid(), process.usedBytes(), Long::sum));
        processes.throughMps(gpu).forEach(process -> bytes.merge(process.pid(), process.usedBytes(), Math::max));
        if (bytes.isEmpty()) {
            return List.of();
        }
        Set<Long> drawing = processes.drawing(gpu).stream().map(Nvml.GpuProcess::pid).collect(Collectors.toSet());
        return bytes.entrySet().stream()
                .map(entry -> new OnGpu(gpu, uuid, entry.getKey(), entry.getValue(), drawing.contains(entry.getKey()))).toList();
    }
}
