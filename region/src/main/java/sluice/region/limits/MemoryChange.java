package sluice.region.limits;

import java.util.Arrays;
import java.util.stream.IntStream;

/// New memory quotas.
public final class MemoryChange extends GpuChange {
    private MemoryChange(long[] bytes) {
        super(bytes);
    }

    /// Reads `6g` or `none`, for every GPU, or `0=6g,1=none`, for the GPUs named.
    public static MemoryChange parse(String text) {
        return new MemoryChange(GpuUnit.MEMORY.changes(text));
    }

    /// One quota for every GPU; 0 is none.
    public static MemoryChange toAll(long bytes) {
        long[] all = new long[GpuUnit.GPUS];
        Arrays.fill(all, bytes);
        return new MemoryChange(all);
    }

    public MemoryLimits appliedTo(MemoryLimits old) {
        return MemoryLimits.of(IntStream.range(0, GpuUnit.GPUS).mapToLong(gpu -> of(gpu, old)).toArray());
    }
}
