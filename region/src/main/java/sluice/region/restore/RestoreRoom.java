package sluice.region.restore;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import sluice.linux.Folder;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.restore.StoredStates.Need;

/// Looks for room on the GPUs for a vacated tenant. A driver that restores the state of a process without room never restores it again, and the process
/// itself cannot ask NVML meanwhile. So the library restores only after a tool has looked, and has told the tenant so.
///
/// Looks take place one after the other, and each leaves to others what earlier looks have promised them. Not seen are tenants that the caller cannot
/// read, and programs without Sluice. What these take between a look and the restore is missing.
public final class RestoreRoom {
    private static final long MARGIN_BYTES = 64L << 20;
    private static final long PATIENCE_NANOS = 500_000_000;
    private static final long APART_NANOS = 1_000_000;

    private final Supplier<List<Tenant>> tenants;
    private final Function<TenantGpu, OptionalLong> freeBytes;

    /// @param tenants   all that the caller can read, as they are now
    /// @param freeBytes of a GPU, as they are now; empty: nobody tells, then what the ledgers of all tenants leave counts
    public RestoreRoom(Supplier<List<Tenant>> tenants, Function<TenantGpu, OptionalLong> freeBytes) {
        this.tenants = tenants;
        this.freeBytes = freeBytes;
    }

    /// Looks, and lets the tenant restore what is stored where there is room for all of it.
    ///
    /// @return what is missing, for people; empty: nothing is, or nothing is stored
    public Optional<String> look(Tenant tenant) {
        if (!StoredStates.read(tenant).stored()) {
            return estimate(tenant, freeBytes);
        }
        try (Folder folder = Folder.open(tenant.file().toAbsolutePath().getParent())) {
            return isAlone(folder) ? lookAlone(tenant) : Optional.of("another tool is looking for room for another tenant; try again");
        } catch (IOException e) {
            throw Region.cannotOpen(tenant.file(), e);
        }
    }

    private static boolean isAlone(Folder folder) throws IOException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        boolean alone = folder.lock();
        while (!alone && System.nanoTime() < end) {
            LockSupport.parkNanos(APART_NANOS);
            alone = folder.lock();
        }
        return alone;
    }

    private Optional<String> lookAlone(Tenant tenant) {
        long began = System.nanoTime();
        List<Tenant> all = tenants.get();
        StoredStates own = StoredStates.read(tenant);
        List<StoredStates> others = all.stream().filter(other -> other.state().lives() && !other.file().equals(tenant.file())).map(StoredStates::read).toList();
        for (TenantGpu gpu : tenant.gpus()) {
            Need need = own.on(gpu);
            if (need.asideBytes() == 0) {
                continue;
            }
            long free = freeBytes.apply(gpu).orElseGet(() -> unused(gpu, all));
            long left = left(free, others, gpu);
            if (left < need.sum() + MARGIN_BYTES) {
                return Optional.of(lacking(gpu.index(), tenant.name(), free, free - left, need.sum() + MARGIN_BYTES));
            }
        }
        StoredStates.promise(tenant.file(), tenant.createdNanos(), began);
        return Optional.empty();
    }

    private static long unused(TenantGpu gpu, List<Tenant> all) {
        return gpu.totalBytes() - all.stream().flatMap(other -> other.gpus().stream()).filter(other -> other.uuid().equals(gpu.uuid()))
                .mapToLong(TenantGpu::usedBytes).sum();
    }

    /// What promises leave, and memory that comes back now. A tenant that waits for more than there is takes nothing.
    private static long left(long freeBytes, List<StoredStates> others, TenantGpu gpu) {
        long left = freeBytes - others.stream().filter(StoredStates::promised).mapToLong(other -> other.on(gpu).sum()).sum();
        for (StoredStates other : others) {
            long away = other.promised() || !other.resumes() ? 0 : other.on(gpu).awayBytes();
            left -= away <= left ? away : 0;
        }
        return left;
    }

    private static String lacking(int gpu, String tenant, long free, long promised, long needed) {
        return "GPU %d has %s free%s, and tenant '%s' needs %s; pause or end another job".formatted(gpu, Size.format(free),
                promised == 0 ? "" : ", " + Size.format(promised) + " of that for tenants that come back", tenant, Size.format(needed));
    }

    /// The same of a tenant whose region the caller cannot read, or whose library is older than the word of a look: without that word, and without the
    /// promises to others.
    public static Optional<String> estimate(Tenant tenant, Function<TenantGpu, OptionalLong> freeBytes) {
        if (tenant.asked().depth() != Depth.VACATE) {
            return Optional.empty();
        }
        Host host = tenant.pause().host();
        long needed = host.awayBytes() + host.stayingBytes() + MARGIN_BYTES;
        for (TenantGpu gpu : tenant.gpus()) {
            OptionalLong free = freeBytes.apply(gpu);
            if (free.isPresent() && free.getAsLong() < needed) {
                return Optional.of(lacking(gpu.index(), tenant.name(), free.getAsLong(), 0, needed));
            }
        }
        return Optional.empty();
    }
}
