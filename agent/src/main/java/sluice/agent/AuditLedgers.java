package sluice.agent;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.region.Identity;
import sluice.region.RegionException;
import sluice.region.SluiceException;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;

/// The ledgers by the processes that are in them. Several may name one process: anybody can write a region that names any. So
/// the one that says the most counts, and nobody can accuse another's process.
final class AuditLedgers {
    private final Map<Long, List<Entry>> entries = new HashMap<>();
    private final Set<String> gpus;
    private boolean ofOtherLayout;

    private record Entry(Tenant tenant, TenantProcess process) {}

    /// What a ledger says of a process on one GPU.
    record Held(String tenant, Path region, long bytes) {}

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
        Held most = null;
        for (Identity name : names) {
            for (Entry entry : entries.getOrDefault(name.word(), List.of())) {
                long bytes = bytes(entry, gpu);
                most = most == null || bytes > most.bytes() ? new Held(entry.tenant().name(), entry.tenant().file(), bytes) : most;
            }
        }
        return Optional.ofNullable(most);
    }

    private long bytes(Entry entry, String uuid) {
        long bytes = 0;
        for (TenantGpu gpu : entry.tenant().gpus()) {
            bytes += gpu.uuid().equals(uuid) || !gpus.contains(gpu.uuid()) ? entry.process().chargedBytes(gpu.entry()) : 0;
        }
        return bytes;
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

    /// Whether one could not be read because it is another version's. Who is in it may well be in order.
    boolean ofOtherLayout() {
        return ofOtherLayout;
    }
}
