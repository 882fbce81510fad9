package sluice.proof.stage;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import sluice.region.LimitsChange;
import sluice.region.MemoryUses;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.limits.Limit;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.pause.Depth;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// A tenant made for a check. A context takes memory of its own, and how much depends on the GPU. So checks open their processes first, and
/// then set the room beyond that.
public record TestTenant(Path file) {
    /// Makes all checks with memory that Sluice maps, or with none of it; if it is not set each check decides.
    static final String MAPPED = "SLUICE_MAPPED";

    public static TestTenant create(RuntimeDirectory directory, String name, long quotaBytes) {
        long[] limits = new long[MemoryLimits.GPUS];
        Arrays.fill(limits, quotaBytes);
        return create(directory, name, limits);
    }

    static TestTenant create(RuntimeDirectory directory, String name, long[] limits) {
        RegionDraft draft = new RegionDraft(
                name, "sluice verify", Identity.self(), OnError.FAIL, MemoryLimits.of(limits));
        TestTenant tenant = new TestTenant(Region.create(directory, draft));
        Optional.ofNullable(System.getenv(MAPPED)).ifPresent(text -> tenant.set(Limit.MAPPED, text));
        return tenant;
    }

    public Tenant read() {
        return Tenant.read(file);
    }

    public boolean has(long pid) {
        return read().liveProcesses().stream().anyMatch(process -> process.identity().pid() == pid);
    }

    /// The memory of the tenant's live processes, by the ledger.
    public long chargedBytes() {
        return read().gpus().stream().mapToLong(TenantGpu::usedBytes).sum();
    }

    public long refusedCalls() {
        return read().gpus().stream().mapToLong(TenantGpu::refusedCalls).sum();
    }

    /// The quota on GPU 0.
    public long quotaBytes() {
        return read().memory().bytes(0);
    }

    /// The rest of the quota.
    public long roomBytes() {
        return quotaBytes() - chargedBytes();
    }

    /// Sets the quota on every GPU to what is in use and this much more. It refuses 0, because 0 means no limit.
    public void setRoom(long bytes) {
        setQuota(chargedBytes() + bytes);
    }

    public void setQuota(long bytes) {
        LimitsChange.of(Limit.MEMORY, bytes == 0 ? Limit.NONE : bytes + "b").apply(file);
    }

    public void setOnOom(String text) {
        set(Limit.ON_OOM, text);
    }

    public void set(Limit limit, String text) {
        LimitsChange.of(limit, text).apply(file);
    }

    public Asked ask(Depth depth) {
        return Asked.to(depth, this);
    }

    public MemoryUses uses() {
        return read().gpus().stream().map(TenantGpu::uses).reduce(MemoryUses.NONE, MemoryUses::plus);
    }

    /// The memory of one process, by the ledger.
    public long chargedBytes(long pid) {
        return read().liveProcesses().stream()
                .filter(process -> process.identity().pid() == pid)
                .flatMap(process -> process.charges().stream())
                .mapToLong(TenantProcess.Charge::chargedBytes)
                .sum();
    }
}
