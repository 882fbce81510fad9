package sluice.region.limits;

import static sluice.region.layout.RegionLayout.*;

import sluice.region.layout.HeaderView;
import sluice.region.layout.LimitsView;

/// The fields of a region that hold its limits. No other class reads or writes them.
public final class LimitFields {
    private LimitFields() {}

    /// Page 0 of a region: a buffer of a new one, or the mapped file. Offsets are those of [sluice.region.layout.RegionLayout].
    public interface Page {
        void put(int offset, int value);

        void put(int offset, long value);
    }

    public static void write(Limits limits, Page page) {
        ComputeLimits compute = limits.compute();
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            page.put(LIMITS_MEMORY_BYTES_OFFSET + gpu * Long.BYTES, limits.memory().bytes(gpu));
            page.put(LIMITS_COMPUTE_PERMILLE_OFFSET + gpu * Integer.BYTES, compute.caps().permille(gpu));
        }
        page.put(LIMITS_WEIGHT_OFFSET, compute.weight());
        page.put(LIMITS_PRIORITY_OFFSET, compute.priority().value());
        page.put(LIMITS_EXCLUSIVE_OFFSET, compute.exclusive() ? 1 : 0);
        page.put(LIMITS_TURN_MICROS_OFFSET, compute.turnMicros());
        page.put(LIMITS_TURNS_OFFSET, compute.turns() ? 1 : 0);
        page.put(LIMITS_STRICT_OFFSET, compute.strict() ? 1 : 0);
        page.put(LIMITS_OOM_WAIT_MILLIS_OFFSET, limits.onOom().waitMillis());
        page.put(LIMITS_ON_OOM_OFFSET, limits.onOom().waits() ? 1 : 0);
        page.put(LIMITS_RESERVOIR_BYTES_OFFSET, limits.host().reservoirBytes());
        page.put(LIMITS_PREPARED_BYTES_OFFSET, limits.host().preparedBytes());
        page.put(LIMITS_MAPPED_OFFSET, limits.host().mapped() ? 1 : 0);
        page.put(HEADER_ON_ERROR_OFFSET, limits.onError().ordinal());
    }

    public static Limits read(HeaderView header, LimitsView limits) {
        long[] bytes = new long[MemoryLimits.GPUS];
        for (int gpu = 0; gpu < bytes.length; gpu++) {
            bytes[gpu] = limits.memoryBytes(gpu);
        }
        return new Limits(MemoryLimits.of(bytes), compute(limits), OnOom.of(limits.onOom(), limits.oomWaitMillis()), OnError.of((int) header.onError()),
                new HostLimits(limits.mapped() != 0, limits.reservoirBytes(), limits.preparedBytes()));
    }

    /// Those of GPU time alone.
    public static ComputeLimits compute(LimitsView limits) {
        int[] caps = new int[MemoryLimits.GPUS];
        for (int gpu = 0; gpu < caps.length; gpu++) {
            caps[gpu] = (int) limits.computePermille(gpu);
        }
        return new ComputeLimits(ComputeCaps.of(caps), limits.turns() != 0, (int) Math.max(1, limits.weight()),
                Priority.of(limits.priority()), limits.exclusive() != 0, (int) limits.turnMicros(), limits.strict() != 0);
    }
}
