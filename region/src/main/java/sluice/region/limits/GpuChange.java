package sluice.region.limits;

import java.util.ArrayList;
import java.util.List;

/// New limits for some GPUs or for all; the others stay as they are.
public abstract sealed class GpuChange permits MemoryChange, CapsChange {
    private final long[] values;

    GpuChange(long[] values) {
        this.values = values;
    }

    /// The GPUs that a change for some is for; empty when it is for all.
    public final List<Integer> named() {
        List<Integer> named = new ArrayList<>();
        for (int gpu = 0; gpu < values.length; gpu++) {
            if (values[gpu] != GpuUnit.NOT_NAMED) {
                named.add(gpu);
            }
        }
        return named.size() == values.length ? List.of() : named;
    }

    final long of(int gpu, GpuLimits old) {
        return values[gpu] == GpuUnit.NOT_NAMED ? old.of(gpu) : values[gpu];
    }
}
