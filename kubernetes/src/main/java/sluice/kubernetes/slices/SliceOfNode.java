package sluice.kubernetes.slices;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.kubernetes.node.NodeGpu;

/// The ResourceSlice of a node: one device for each GPU, of which many claims can have a part.
public record SliceOfNode(String driver, String node, String nodeUid, List<NodeGpu> gpus, SliceDefaults defaults) {
    static final String DIGEST = "sluice.dev/digest";
    private static final long STEP_BYTES = 64L << 20;
    /// What the driver keeps for itself: three percent, and no less than this.
    private static final long LEAST_RESERVED_BYTES = 256L << 20;
    private static final int RESERVED_PERCENT = 3;
    private static final int TEXT_LENGTH = 64;
    private static final Pattern VERSION = Pattern.compile("([0-9]{1,6})\\.([0-9]{1,6})(?:\\.([0-9]{1,6}))?");

    String name() {
        return node + "-" + driver;
    }

    /// A GPU that is too small has 0.
    public static long advertisedBytes(long totalBytes) {
        long reserved = Math.max(LEAST_RESERVED_BYTES, totalBytes / 100 * RESERVED_PERCENT);
        return Math.max(0, totalBytes - reserved) / STEP_BYTES * STEP_BYTES;
    }

    List<Map<String, Object>> devices() {
        return gpus.stream().filter(gpu -> advertisedBytes(gpu.totalBytes()) > 0).map(this::device).toList();
    }

    /// @param generation grows with each change
    /// @param version    of the object that this replaces; empty for a new one
    Map<String, Object> json(long generation, String version) {
        Map<String, Object> metadata = new LinkedHashMap<>(Map.of("name", name(), "annotations", Map.of(DIGEST, digest()),
                "ownerReferences", List.of(Map.of("apiVersion", "v1", "kind", "Node", "name", node, "uid", nodeUid, "controller", true))));
        if (!version.isEmpty()) {
            metadata.put("resourceVersion", version);
        }
        return Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceSlice", "metadata", metadata, "spec", Map.of("driver", driver, "nodeName", node,
                "pool", Map.of("name", node, "generation", generation, "resourceSliceCount", 1), "devices", devices()));
    }

    /// Of what is wanted. An API server leaves out fields that it does not know, so what it has cannot be compared.
    String digest() {
        return Integer.toHexString(devices().stream().map(SliceOfNode::sorted).toList().hashCode()) + "-" + nodeUid;
    }

    private static Object sorted(Map<String, Object> device) {
        return new TreeMap<>(device);
    }

    private Map<String, Object> device(NodeGpu gpu) {
        long bytes = advertisedBytes(gpu.totalBytes());
        Map<String, Object> attributes = new LinkedHashMap<>(Map.of("model", text(gpu.name()), "uuid", text(gpu.uuid())));
        gpu.place().numa().ifPresent(numa -> attributes.put("numa", Map.of("int", numa)));
        gpu.place().root().ifPresent(root -> attributes.put("resource.kubernetes.io/pcieRoot", text(root)));
        if (!gpu.kind().architecture().isEmpty()) {
            attributes.put("architecture", text(gpu.kind().architecture()));
        }
        version("driverVersion", gpu.kind().driver(), attributes);
        version("cudaComputeCapability", gpu.kind().capability(), attributes);
        Map<String, Object> device = new LinkedHashMap<>(Map.of("name", gpu.device(), "allowMultipleAllocations", true, "attributes", attributes, "capacity", Map.of(
                "memory", capacity(bytes, defaults.bytes(bytes, STEP_BYTES), STEP_BYTES, STEP_BYTES),
                "compute", capacity(100, defaults.compute(), 0, 1))));
        if (!gpu.unfit().isEmpty()) {
            device.put("taints", List.of(Map.of("key", "sluice.dev/unhealthy", "effect", "NoSchedule")));
        }
        return device;
    }

    /// A version of three numbers without leading zeros, which selectors compare as versions.
    private static void version(String name, String value, Map<String, Object> attributes) {
        Matcher numbers = VERSION.matcher(value);
        if (numbers.matches()) {
            String third = numbers.group(3) == null ? "0" : numbers.group(3);
            attributes.put(name, Map.of("version", Stream.of(numbers.group(1), numbers.group(2), third).map(Integer::parseInt).map(String::valueOf).collect(Collectors.joining("."))));
        }
    }

    private static Map<String, Object> text(String value) {
        return Map.of("string", value.length() <= TEXT_LENGTH ? value : value.substring(0, TEXT_LENGTH));
    }

    private static Map<String, Object> capacity(long value, long usual, long least, long step) {
        return Map.of("value", Long.toString(value), "requestPolicy", Map.of("default", Long.toString(usual),
                "validRange", Map.of("min", Long.toString(least), "max", Long.toString(value), "step", Long.toString(step))));
    }
}
