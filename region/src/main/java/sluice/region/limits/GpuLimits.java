package sluice.region.limits;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/// Limits by GPU number, as nvidia-smi counts them. 0 means no limit.
public abstract sealed class GpuLimits permits MemoryLimits, ComputeCaps {
    private final GpuUnit unit;
    private final long[] values;

    GpuLimits(GpuUnit unit, long[] values) {
        this.unit = unit;
        this.values = Arrays.copyOf(values, GpuUnit.GPUS);
    }

    /// 0: no limit, or a number that no limit can name.
    final long of(int gpu) {
        return gpu >= 0 && gpu < values.length ? values[gpu] : 0;
    }

    /// After a change such as `6g` or `none`, for every GPU, or `0=6g,1=none`, which leaves the others as they are.
    final long[] valuesAfter(String change) {
        long[] changed = unit.changes(change);
        for (int gpu = 0; gpu < changed.length; gpu++) {
            changed[gpu] = changed[gpu] == GpuUnit.NOT_NAMED ? values[gpu] : changed[gpu];
        }
        return changed;
    }

    /// The smaller limit of each GPU.
    final long[] least(GpuLimits other) {
        long[] least = new long[values.length];
        for (int gpu = 0; gpu < least.length; gpu++) {
            long here = values[gpu];
            long there = other.values[gpu];
            least[gpu] = here == 0 ? there : there == 0 ? here : Math.min(here, there);
        }
        return least;
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

    /// For people: `4.0 GiB`, `0=4.0 GiB, 1=8.0 GiB`, `0=none, others 6.0 GiB` or `none`.
    @Override
    public final String toString() {
        long last = values[values.length - 1];
        long rest = Arrays.stream(values).filter(value -> value == last).count() > values.length / 2 ? last : 0;
        List<String> named = IntStream.range(0, values.length).filter(gpu -> values[gpu] != rest)
                .mapToObj(gpu -> gpu + "=" + format(values[gpu])).toList();
        return named.isEmpty() ? format(rest) : String.join(", ", named) + (rest == 0 ? "" : ", others " + format(rest));
    }

    private String format(long value) {
        return value == 0 ? "none" : unit.format(value);
    }
}
