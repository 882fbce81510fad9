package sluice.agent.limits;

import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import sluice.cuda.Nvml;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.Boards;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Changes the limits of a tenant that runs, in its region and on the boards that it is on.
public final class LimitsSetter {
    private LimitsSetter() {}

    /// @param gpus that NVML knows
    /// @return what the region says afterwards
    public static Tenant set(Tenant tenant, LimitsChange change, List<Nvml.Gpu> gpus) {
        requireGpus(tenant, change.gpus(), gpus);
        Tenant after = change.apply(tenant);
        if (change.isOfGpuTime()) {
            RuntimeDirectory directory = new RuntimeDirectory(tenant.file().toAbsolutePath().getParent());
            Boards.enter(directory, after);
            Boards.takePlansBack(directory);
        }
        return after;
    }

    /// A limit for a GPU that is not there would do nothing, so it is a mistake. The tenant may not have used all of its GPUs
    /// yet, so NVML tells which there are. Where there is no NVML, or one that does not know the tenant's GPUs because they
    /// are simulated ones, any number is taken.
    private static void requireGpus(Tenant tenant, SortedSet<Integer> named, List<Nvml.Gpu> gpus) {
        Set<String> uuids = gpus.stream().map(Nvml.Gpu::uuid).collect(Collectors.toSet());
        if (gpus.isEmpty() || !tenant.gpus().stream().map(TenantGpu::uuid).allMatch(uuids::contains)) {
            return;
        }
        List<Integer> known = gpus.stream().map(Nvml.Gpu::index).toList();
        for (int gpu : named) {
            if (!known.contains(gpu)) {
                throw new SluiceException("there is no GPU " + gpu + " for tenant '" + tenant.name() + "'; it has GPU "
                        + String.join(", ", known.stream().map(String::valueOf).toList()));
            }
        }
    }
}
