package sluice.kubernetes.plugin;

import java.util.List;
import java.util.stream.Stream;
import sluice.kubernetes.node.NodeGpu;
import sluice.kubernetes.slices.SliceOfNode;

/// The resources that pods ask for in whole numbers.
///
/// @see UnitId
enum UnitResource {
    MEMORY("sluice.dev/gpu-memory", "sluice-gpu-memory.sock", Family.SLUICE, 256L << 20),
    COMPUTE("sluice.dev/gpu-compute", "sluice-gpu-compute.sock", Family.SLUICE, 0),
    ALNAIR_MEMORY("alnair/vgpu-memory", "alnair-gpu-mem.sock", Family.ALNAIR, 1L << 30),
    ALNAIR_COMPUTE("alnair/vgpu-compute", "alnair-gpu-compute.sock", Family.ALNAIR, 0);

    /// Whose names they are. A container has its memory and its GPU time in one family.
    enum Family {
        SLUICE, ALNAIR;

        UnitResource memory() {
            return this == SLUICE ? MEMORY : ALNAIR_MEMORY;
        }

        UnitResource compute() {
            return this == SLUICE ? COMPUTE : ALNAIR_COMPUTE;
        }

        /// Those of a family together: memory first.
        List<UnitResource> resources() {
            return List.of(memory(), compute());
        }
    }

    static final int WHOLE_PERCENT = 100;

    private final String resource;
    private final String socket;
    private final Family family;
    private final long unitBytes;

    UnitResource(String resource, String socket, Family family, long unitBytes) {
        this.resource = resource;
        this.socket = socket;
        this.family = family;
        this.unitBytes = unitBytes;
    }

    /// As pods name it.
    String resource() {
        return resource;
    }

    /// Name of the socket in kubelet's folder.
    String socket() {
        return socket;
    }

    Family family() {
        return family;
    }

    boolean isMemory() {
        return unitBytes > 0;
    }

    /// 0 if a unit is one percent of a GPU's time.
    long unitBytes() {
        return unitBytes;
    }

    /// How many a GPU has.
    int unitsOf(NodeGpu gpu) {
        return isMemory() ? Math.toIntExact(SliceOfNode.advertisedBytes(gpu.totalBytes()) / unitBytes) : WHOLE_PERCENT;
    }

    static Stream<UnitResource> of(List<Family> families) {
        return families.stream().flatMap(family -> family.resources().stream());
    }
}
