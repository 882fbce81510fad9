package sluice.region;

import java.util.Arrays;

/// Limits by GPU number, as nvidia-smi counts them. 0 means no limit.
public abstract sealed class GpuLimits permits MemoryLimits, ComputeCaps {
    private final GpuUnit unit;
    private final long[] values;

    GpuLimits(GpuUnit unit, long[] values) {
        this.unit = unit;
        this.values = Arrays.copyOf(values, GpuUnit.GPUS);
    }

    /// 0 for none, also where the number is not one that a limit can name.
    final long of(int gpu) {
        return gpu >= 0 && gpu < values.length ? values[gpu] : 0;
    }

    public final boolean isEmpty() {
        for (long value : values) {
            if (value != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof GpuLimits limits && unit == limits.unit && Arrays.equals(values, limits.values);
    }

    @Override
    public final int hashCode() {
        return Arrays.hashCode(values);
    }

    /// For people: `4.0 GiB` or `0=4.0 GiB, 1=8.0 GiB` or `none`.
    @Override
    public final String toString() {
        if (isEmpty()) {
            return "none";
        }
        boolean same = true;
        StringBuilder list = new StringBuilder();
        for (int gpu = 0; gpu < values.length; gpu++) {
            same &= values[gpu] == values[0];
            if (values[gpu] != 0) {
                list.append(list.isEmpty() ? "" : ", ").append(gpu).append('=').append(unit.format(values[gpu]));
            }
        }
        return same ? unit.format(values[0]) : list.toString();
    }
}
