package sluice.api.pause;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;

/// Whether a vacated tenant finds room on its GPUs. A driver that restores the state of a process without room never restores it again, and the process itself
/// cannot ask NVML meanwhile. So the tool that asks for the resume looks first.
public final class RestoreRoom {
    private static final long MARGIN_BYTES = 64L << 20;

    private RestoreRoom() {}

    /// @param freeBytes of the GPU with this number in nvidia-smi; empty: nobody knows
    /// @return what is missing, for people; empty: it has room, or is not vacated
    public static Optional<String> lacking(Tenant tenant, IntFunction<OptionalLong> freeBytes) {
        if (tenant.asked().depth() != Depth.VACATE) {
            return Optional.empty();
        }
        Host host = tenant.pause().host();
        long needed = host.awayBytes() + host.stayingBytes() + MARGIN_BYTES;
        for (TenantGpu gpu : tenant.gpus()) {
            OptionalLong free = freeBytes.apply(gpu.index());
            if (free.isPresent() && free.getAsLong() < needed) {
                return Optional.of("GPU %d has %s free, and tenant '%s' needs %s; pause or end another job".formatted(gpu.index(),
                        Size.format(free.getAsLong()), tenant.name(), Size.format(needed)));
            }
        }
        return Optional.empty();
    }
}
