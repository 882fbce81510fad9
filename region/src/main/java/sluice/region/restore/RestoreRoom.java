package sluice.region.restore;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import sluice.linux.Folder;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.place.SluiceException;
import sluice.region.restore.StoredStates.Need;

/// Looks for room on the GPUs for a vacated tenant. A driver that restores the state of a process without room never restores it again, and the process
/// itself cannot ask NVML meanwhile. So the library restores only after a tool has looked, and has told the tenant so.
///
/// Looks take place one after the other, and each leaves to others what earlier looks have promised them: those of one object anyhow, those of several tools by
/// a lock of the tenant's folder. Not seen are tenants that the caller cannot read, and programs without Sluice. What these take between a look and the
/// restore is missing.
public final class RestoreRoom {
    private static final long MARGIN_BYTES = 64L << 20;
    private static final long PATIENCE_NANOS = 500_000_000;
    private static final long APART_NANOS = 1_000_000;

    private final Supplier<List<Tenant>> tenants;
    private final Function<TenantGpu, OptionalLong> freeBytes;
    private final long patienceNanos;
    private final ReentrantLock alone = new ReentrantLock();
    private final UnusedPromises unused = new UnusedPromises();

    /// @param tenants   all that the caller can read, as they are now
    /// @param freeBytes of a GPU, as they are now; empty: nobody tells, then what the ledgers of all tenants leave counts
    public RestoreRoom(Supplier<List<Tenant>> tenants, Function<TenantGpu, OptionalLong> freeBytes) {
        this(tenants, freeBytes, PATIENCE_NANOS);
    }

    private RestoreRoom(Supplier<List<Tenant>> tenants, Function<TenantGpu, OptionalLong> freeBytes, long patienceNanos) {
        this.tenants = tenants;
        this.freeBytes = freeBytes;
        this.patienceNanos = patienceNanos;
    }

    /// For a caller that serves several users: it never waits for the lock of a folder, which its user may hold for ever.
    public static RestoreRoom ofAllUsers(Supplier<List<Tenant>> tenants, Function<TenantGpu, OptionalLong> freeBytes) {
        return new RestoreRoom(tenants, freeBytes, 0);
    }

    /// Looks, and lets the tenant restore what is stored where there is room for all of it.
    ///
    /// @return what is missing, for people; empty: nothing is, or nothing is stored
    public Optional<String> look(Tenant tenant) {
        if (!StoredStates.read(tenant).stored()) {
            return estimate(tenant, freeBytes);
        }
        try (Folder folder = Folder.open(tenant.file().toAbsolutePath().getParent())) {
            if (!isAlone()) {
                return busy();
            }
            try {
                return isAlone(folder) ? new Pass(tenants.get()).look(tenant) : busy();
            } finally {
                alone.unlock();
            }
        } catch (IOException e) {
            throw Region.cannotOpen(tenant.file(), e);
        }
    }

    /// Looks once for all that wait, and waits for nobody: tenants in a folder where another tool looks now are left out.
    ///
    /// @param all what the caller can read; those that wait are among them
    public void lookForAll(List<Tenant> waiting, List<Tenant> all) {
        if (waiting.isEmpty() || !alone.tryLock()) {
            return;
        }
        Map<Path, Folder> folders = new HashMap<>();
        try {
            waiting.forEach(tenant -> lock(tenant.file().toAbsolutePath().getParent(), folders));
            Pass pass = new Pass(all);
            waiting.stream().filter(tenant -> folders.get(tenant.file().toAbsolutePath().getParent()) != null).forEach(pass::lookWhereItCan);
        } finally {
            folders.values().stream().filter(folder -> folder != null).forEach(Folder::close);
            alone.unlock();
        }
    }

    private static void lock(Path path, Map<Path, Folder> folders) {
        if (folders.containsKey(path)) {
            return;
        }
        Folder locked = null;
        try {
            Folder folder = Folder.open(path);
            if (folder.lock()) {
                locked = folder;
            } else {
                folder.close();
            }
        } catch (IOException e) {
            // Gone, or not the caller's to lock: its own tools look.
        }
        folders.put(path, locked);
    }

    private static Optional<String> busy() {
        return Optional.of("another tool is looking for room for another tenant; try again");
    }

    private boolean isAlone() {
        try {
            return alone.tryLock(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean isAlone(Folder folder) throws IOException {
        long end = System.nanoTime() + patienceNanos;
        boolean locked = folder.lock();
        while (!locked && System.nanoTime() < end) {
            LockSupport.parkNanos(APART_NANOS);
            locked = folder.lock();
        }
        return locked;
    }

    /// A look under the locks. What tenants need is read before what the GPUs have free: a tenant that is back in between counts twice, and never not at all.
    private final class Pass {
        private final List<Tenant> all;
        private final Map<Path, StoredStates> states = new LinkedHashMap<>();
        private final Map<String, Long> free = new HashMap<>();
        private final long beganNanos;

        Pass(List<Tenant> all) {
            this.all = all;
            all.stream().filter(tenant -> tenant.state().lives()).forEach(tenant -> states.put(tenant.file(), StoredStates.read(tenant)));
            beganNanos = System.nanoTime();
        }

        /// One tenant that cannot be looked at, whatever its user has done to it, does not keep others from it.
        void lookWhereItCan(Tenant tenant) {
            try {
                look(tenant);
            } catch (SluiceException | InternalError e) {
                // Not the caller's to write, or truncated: its own tool looks.
            }
        }

        Optional<String> look(Tenant tenant) {
            StoredStates own = states.computeIfAbsent(tenant.file(), _ -> StoredStates.read(tenant));
            if (!own.stored() || own.promised()) {
                return Optional.empty();
            }
            Optional<String> lacking = tenant.gpus().stream().flatMap(gpu -> lacking(tenant, own.on(gpu), gpu).stream()).findFirst()
                    .or(() -> unused.wait(tenant, own.storedNanos()));
            if (lacking.isEmpty()) {
                StoredStates.promise(tenant.file(), tenant.createdNanos(), beganNanos);
                unused.promised(tenant, own.storedNanos());
                states.put(tenant.file(), new StoredStates(true, true, own.early(), own.storedNanos(), own.needs()));
            }
            return lacking;
        }

        private Optional<String> lacking(Tenant tenant, Need need, TenantGpu gpu) {
            if (need.asideBytes() == 0) {
                return Optional.empty();
            }
            if (need.asideBytes() > need.quotaBytes()) {
                return Optional.of("the quota of tenant '%s' leaves %s on GPU %d, and its driver state needs %s; raise it with 'sluice set %s --memory'".formatted(tenant.name(),
                        Size.format(need.quotaBytes()), gpu.index(), Size.format(need.asideBytes()), tenant.name()));
            }
            long there = free.computeIfAbsent(gpu.uuid(), _ -> freeBytes.apply(gpu).orElseGet(() -> unused(gpu)));
            long left = left(there, tenant, gpu);
            long needed = StoredStates.saturated(need.sum(), MARGIN_BYTES);
            return left < needed ? Optional.of(lack(gpu.index(), tenant.name(), there, there - left, needed)) : Optional.empty();
        }

        private long unused(TenantGpu gpu) {
            long used = 0;
            for (Tenant each : all) {
                for (TenantGpu there : each.gpus()) {
                    used = there.uuid().equals(gpu.uuid()) ? StoredStates.saturated(used, there.usedBytes()) : used;
                }
            }
            return Math.max(0, gpu.totalBytes() - used);
        }

        /// What promises leave, and memory that comes back now. A tenant that waits for more than there is takes nothing.
        private long left(long freeBytes, Tenant tenant, TenantGpu gpu) {
            List<StoredStates> others = states.entrySet().stream().filter(entry -> !entry.getKey().equals(tenant.file())).map(Map.Entry::getValue).toList();
            long left = freeBytes;
            for (StoredStates other : others) {
                left = other.promised() ? Math.max(0, left - other.on(gpu).claimed(true)) : left;
            }
            for (StoredStates other : others) {
                long returning = other.promised() ? 0 : other.on(gpu).claimed(false);
                left -= returning <= left ? returning : 0;
            }
            return left;
        }
    }

    private static String lack(int gpu, String tenant, long free, long promised, long needed) {
        return "GPU %d has %s free%s, and tenant '%s' needs %s; pause or end another job".formatted(gpu, Size.format(free),
                promised == 0 ? "" : ", " + Size.format(promised) + " of that for tenants that come back", tenant, Size.format(needed));
    }

    /// Whether the driver's state of a process is stored, and no look has found room for it: then the tenant waits until a tool does.
    public static boolean isNeeded(Tenant tenant) {
        StoredStates states = StoredStates.read(tenant);
        return states.stored() && !states.promised();
    }

    /// Whether a process of a vacated tenant restores at once when it is asked to: its library is older than the word of a look. Then a tool has to look before it asks.
    public static boolean isNeededBefore(Tenant tenant) {
        return StoredStates.read(tenant).early();
    }

    /// The same as a look, of a tenant whose region the caller cannot read, or whose library is older than the word of a look: without that word, and without the
    /// promises to others.
    public static Optional<String> estimate(Tenant tenant, Function<TenantGpu, OptionalLong> freeBytes) {
        if (tenant.asked().depth() != Depth.VACATE) {
            return Optional.empty();
        }
        Host host = tenant.pause().host();
        long needed = StoredStates.saturated(StoredStates.saturated(MARGIN_BYTES, host.awayBytes()), host.stayingBytes());
        for (TenantGpu gpu : tenant.gpus()) {
            OptionalLong free = freeBytes.apply(gpu);
            if (free.isPresent() && free.getAsLong() < needed) {
                return Optional.of(lack(gpu.index(), tenant.name(), free.getAsLong(), 0, needed));
            }
        }
        return Optional.empty();
    }
}
