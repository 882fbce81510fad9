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

    /// The GPUs that limits for some are for, in order; empty when all have the same.
    public final List<Integer> named() {
        boolean same = Arrays.stream(values).allMatch(value -> value == values[0]);
        return same ? List.of() : IntStream.range(0, values.length).filter(gpu -> values[gpu] != 0).boxed().toList();
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
