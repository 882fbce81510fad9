package sluice.agent.audit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.region.MemoryUses;
import sluice.region.RegionException;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// The ledgers by the processes that are in them. Several may name one process, because any user can write a region that names any process.
/// So the ledger with the highest figure counts, and no user can accuse the process of another.
final class AuditLedgers {
    private final Map<Long, List<Entry>> entries = new HashMap<>();
    private final Set<String> gpus;
    private boolean ofOtherLayout;

    private record Entry(Tenant tenant, TenantProcess process) {}

    /// The charge of a process on one GPU, by ledgers.
    ///
    /// @param complete whether the bytes surely include contexts, code and other memory that the driver takes for itself. The library may
    ///                 leave these out for a tenant without a quota. It must leave them out if NVML does not list its own process
    record Held(String tenant, Path region, long bytes, boolean complete) {
        /// The ledger with the higher figure, complete if both are. No process may be accused because of what another user wrote.
        Held and(Held other) {
            Held most = other.bytes > bytes ? other : this;
            return new Held(most.tenant, most.region, most.bytes, complete && other.complete);
        }
    }

    /// @param gpus UUIDs that NVML knows. Charges on others, such as instances of MIG, count wherever the process is seen.
    AuditLedgers(List<Tenant> tenants, Set<String> gpus) {
        this.gpus = gpus;
        tenants.forEach(this::add);
    }

    private void add(Tenant tenant) {
        for (TenantProcess process : tenant.processes()) {
            if (process.alive()) {
                entries.computeIfAbsent(process.identity().word(), none -> new ArrayList<>(1)).add(new Entry(tenant, process));
            }
        }
    }

    Optional<Held> find(List<Identity> names, String gpu) {
        return names.stream().flatMap(name -> entries.getOrDefault(name.word(), List.of()).stream()).map(entry -> held(entry, gpu)).reduce(Held::and);
    }

    private Held held(Entry entry, String uuid) {
        long bytes = 0;
        boolean known = false;
        boolean complete = true;
        for (TenantGpu gpu : entry.tenant().gpus()) {
            if (gpu.uuid().equals(uuid) || !gpus.contains(gpu.uuid())) {
                MemoryUses uses = entry.process().uses(gpu.entry());
                known = true;
                bytes += entry.process().chargedBytes(gpu.entry());
                complete &= gpu.limitBytes() != 0 && uses.contextBytes() + uses.overheadBytes() > 0;
            }
        }
        return new Held(entry.tenant().name(), entry.tenant().file(), bytes, known && complete);
    }

    /// The ledgers in some files.
    static AuditLedgers in(List<Path> regions, Set<String> gpus) {
        AuditLedgers ledgers = new AuditLedgers(List.of(), gpus);
        for (Path file : regions) {
            try {
                ledgers.add(Tenant.read(file));
            } catch (RegionException.LayoutMismatch e) {
                ledgers.ofOtherLayout = true;
            } catch (SluiceException e) {
                // No region, or gone.
            }
        }
        return ledgers;
    }

    /// Whether a ledger could not be read because it is of another version. Processes in it may be in order.
    boolean ofOtherLayout() {
        return ofOtherLayout;
    }
}
