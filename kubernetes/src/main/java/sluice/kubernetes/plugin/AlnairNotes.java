package sluice.kubernetes.plugin;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.node.NodeGpu;

/// Alnair's annotations of nodes and pods, which its schedulers and exporters read.
record AlnairNotes(Cluster cluster, String node) {
    private static final String PREFIX = "ai.centaurus.io/";

    /// Alnair wrote `vitual-gpu-count` and its scheduler read `virtual-gpu-count`, so there are both.
    void describe(List<NodeGpu> gpus) {
        String units = gpus.stream().map(gpu -> Integer.toString(UnitResource.ALNAIR_MEMORY.unitsOf(gpu))).collect(Collectors.joining(","));
        annotate("/api/v1/nodes/" + node, "Node", node, Map.of("physical-gpu-count", Integer.toString(gpus.size()), "physical-gpu-uuids",
                gpus.stream().map(NodeGpu::uuid).collect(Collectors.joining(",")), "vitual-gpu-count", units, "virtual-gpu-count", units));
    }

    void describe(GivenUnits given, GivenUnits.Holder holder) {
        annotate("/api/v1/namespaces/" + holder.namespace() + "/pods/" + holder.pod(), "Pod", holder.pod(),
                Map.of("alnair-gpu-id", String.join(",", given.units()), "alnair-id", given.workspace()));
    }

    private void annotate(String path, String kind, String name, Map<String, String> notes) {
        cluster.apply(path, Map.of("apiVersion", "v1", "kind", kind, "metadata", Map.of("name", name,
                "annotations", notes.entrySet().stream().collect(Collectors.toMap(note -> PREFIX + note.getKey(), Map.Entry::getValue)))));
    }
}
