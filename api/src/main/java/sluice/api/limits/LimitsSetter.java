package sluice.api.limits;

import java.util.SortedMap;
import java.util.SortedSet;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.Boards;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Changes the limits of a tenant that runs, in its region and on the boards that it is on.
public final class LimitsSetter {
    private LimitsSetter() {}

    /// @param gpus that NVML knows: UUIDs by number
    /// @return the limits in the region afterwards
    public static Tenant set(Tenant tenant, LimitsChange change, SortedMap<Integer, String> gpus) {
        requireGpus(tenant, change.gpus(), gpus);
        Tenant after = change.apply(tenant);
        if (change.isOfGpuTime()) {
            RuntimeDirectory directory = new RuntimeDirectory(tenant.file().toAbsolutePath().getParent());
            Boards.enter(directory, after);
            Boards.takePlansBack(directory);
        }
        return after;
    }

    /// A limit for a missing GPU would have no effect, so it is a mistake. The tenant may not have used all of its GPUs yet, so NVML lists
    /// them. Without NVML any number is valid. The same holds if NVML does not know the tenant's GPUs because they are simulated.
    private static void requireGpus(Tenant tenant, SortedSet<Integer> named, SortedMap<Integer, String> gpus) {
        if (gpus.isEmpty() || !tenant.gpus().stream().map(TenantGpu::uuid).allMatch(gpus::containsValue)) {
            return;
        }
        for (int gpu : named) {
            if (!gpus.containsKey(gpu)) {
                throw new SluiceException("there is no GPU " + gpu + " for tenant '" + tenant.name() + "'; it has GPU "
                        + String.join(", ", gpus.keySet().stream().map(String::valueOf).toList()));
            }
        }
    }
}
