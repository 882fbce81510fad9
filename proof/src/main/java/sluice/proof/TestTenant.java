package sluice.proof;

import java.nio.file.Path;
import java.util.Arrays;
import sluice.region.Identity;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RuntimeDirectory;
import sluice.region.Tenant;
import sluice.region.TenantGpu;

/// A tenant made for a check.
///
/// @param quotaBytes on GPU 0, and on every other if one quota was given for all
record TestTenant(Path file, long quotaBytes) {

    static TestTenant create(RuntimeDirectory directory, String name, long quotaBytes) {
        long[] limits = new long[MemoryLimits.GPUS];
        Arrays.fill(limits, quotaBytes);
        return create(directory, name, limits);
    }

    static TestTenant create(RuntimeDirectory directory, String name, long[] limits) {
        RegionDraft draft = new RegionDraft(
                name, "sluice verify", Identity.self(), OnError.FAIL, MemoryLimits.of(limits));
        return new TestTenant(Region.create(directory, draft), limits[0]);
    }

    Tenant read() {
        return Tenant.read(file);
    }

    boolean has(long pid) {
        return read().liveProcesses().stream().anyMatch(process -> process.identity().pid() == pid);
    }

    /// What the ledger says the tenant's live processes hold.
    long chargedBytes() {
        return read().gpus().stream().mapToLong(TenantGpu::usedBytes).sum();
    }

    long refusedCalls() {
        return read().gpus().stream().mapToLong(TenantGpu::refusedCalls).sum();
    }

    /// What may still be taken.
    long roomBytes() {
        return quotaBytes - chargedBytes();
    }
}
