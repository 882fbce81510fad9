package sluice.kubernetes.plugin;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.kubernetes.node.NodeGpu;

/// The units of one resource for kubelet.
///
/// Both families are of the same GPUs, and kubelet counts each alone. So units that no longer exist, because a container has them under the
/// names of the other family, are listed as ill: kubelet gives them to nobody.
record UnitList(UnitResource resource, List<NodeGpu> gpus, HeldUnits held) {
    record Unit(String id, boolean healthy, Optional<Integer> numa) {}

    List<Unit> units() {
        Set<String> taken = held.all(resource);
        Map<String, Long> elsewhere = elsewhere();
        List<Unit> units = new ArrayList<>();
        for (NodeGpu gpu : gpus) {
            int count = resource.unitsOf(gpu);
            long usable = count - Math.min(count, elsewhere.getOrDefault(gpu.uuid(), 0L));
            long room = usable - taken.stream().filter(id -> UnitId.parse(id).uuid().equals(gpu.uuid())).count();
            for (int number = 0; number < count; number++) {
                String id = new UnitId(gpu.uuid(), number).toString();
                boolean fits = taken.contains(id) || room-- > 0;
                units.add(new Unit(id, gpu.unfit().isEmpty() && fits, gpu.place().numa()));
            }
        }
        return units;
    }

    /// Units of this size that the other family has, rounded up, by GPU.
    private Map<String, Long> elsewhere() {
        UnitResource other = resource.isMemory() ? other().memory() : other().compute();
        Map<String, Long> units = new HashMap<>();
        held.counts(other).forEach((uuid, count) -> units.put(uuid, resource.isMemory() ? Math.ceilDiv(count * other.unitBytes(), resource.unitBytes()) : count));
        return units;
    }

    private UnitResource.Family other() {
        return resource.family() == UnitResource.Family.SLUICE ? UnitResource.Family.ALNAIR : UnitResource.Family.SLUICE;
    }

    /// Whether a GPU has room for more units beside what the other family holds.
    boolean hasRoom(String uuid, int more) {
        return gpus.stream().filter(gpu -> gpu.uuid().equals(uuid)).anyMatch(gpu -> resource.unitsOf(gpu) - elsewhere().getOrDefault(uuid, 0L) >= more);
    }
}
