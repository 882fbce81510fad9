package sluice.region.limits;

/// Memory quotas by GPU number.
public final class MemoryLimits extends GpuLimits {
    /// How many GPUs a region can name.
    public static final int GPUS = GpuUnit.GPUS;

    private MemoryLimits(long[] bytes) {
        super(GpuUnit.MEMORY, bytes);
    }

    public static MemoryLimits none() {
        return of();
    }

    public static MemoryLimits of(long... bytesByGpu) {
        return new MemoryLimits(bytesByGpu);
    }

    /// Reads `4g`, the quota on every GPU, or `0=4g,1=8g`, quotas of the GPUs named.
    public static MemoryLimits parse(String text) {
        return new MemoryLimits(GpuUnit.MEMORY.limits(text));
    }

    MemoryLimits changed(String text) {
        return new MemoryLimits(valuesAfter(text));
    }

    MemoryLimits within(MemoryLimits bound) {
        return new MemoryLimits(least(bound));
    }

    public long bytes(int gpu) {
        return of(gpu);
    }
}
