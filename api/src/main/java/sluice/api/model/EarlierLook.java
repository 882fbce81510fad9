package sluice.api.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// The GPU time of tenants at an earlier moment, to compute their part since then. Without an earlier look, the part is since their
/// begin.
public final class EarlierLook {
    public static final EarlierLook NONE = new EarlierLook(List.of(), false);

    private record Key(long createdNanos, int gpuEntry) {}

    private final Map<Key, GpuTime> times = new HashMap<>();
    private final boolean taken;

    private EarlierLook(List<Tenant> tenants, boolean taken) {
        this.taken = taken;
        tenants.forEach(tenant -> tenant.gpus().forEach(gpu -> times.put(key(tenant, gpu), gpu.time())));
    }

    public static EarlierLook at(List<Tenant> tenants) {
        return new EarlierLook(tenants, true);
    }

    /// The part of a GPU's time that a tenant got, in thousandths. -1, not known: it has ended, did not exist then, or is not measured any
    /// more.
    public int gotPermille(Tenant tenant, TenantGpu gpu) {
        GpuTime then = times.get(key(tenant, gpu));
        if (!tenant.state().lives() || then != null && !tenant.isMeasured(gpu.time(), then)) {
            return -1;
        }
        return !taken ? gpu.time().gotPermille() : then == null ? -1 : gpu.time().gotPermilleSince(then);
    }

    /// The time that this is a part of.
    public long overNanos(Tenant tenant, TenantGpu gpu) {
        GpuTime then = times.get(key(tenant, gpu));
        return gotPermille(tenant, gpu) < 0 ? 0 : gpu.time().readNanos() - (taken ? then.readNanos() : gpu.time().beganNanos());
    }

    private static Key key(Tenant tenant, TenantGpu gpu) {
        return new Key(tenant.createdNanos(), gpu.entry());
    }
}
