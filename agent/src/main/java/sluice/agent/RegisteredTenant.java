package sluice.agent;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import sluice.region.Identity;
import sluice.region.Region;
import sluice.region.SluiceException;
import sluice.region.Tenant;
import sluice.region.TenantProcess;

/// A tenant whose region this agent hands out.
final class RegisteredTenant implements AutoCloseable {
    private final Tenant made;
    private final Set<Identity> processes = new HashSet<>();
    private final HandedLimits limits;

    RegisteredTenant(Tenant tenant) {
        made = tenant;
        processes.add(tenant.root());
        tenant.liveProcesses().stream().map(TenantProcess::identity).forEach(processes::add);
        limits = new HandedLimits(tenant.file());
    }

    String name() {
        return made.name();
    }

    long uid() {
        return made.uid();
    }

    Path ledger() {
        return Region.ledger(made.file());
    }

    void add(Identity process) {
        processes.removeIf(known -> !known.isAlive());
        processes.add(process);
    }

    boolean has(Identity process) {
        return processes.contains(process);
    }

    /// One whose ledger was cut counts as ended.
    boolean isRunning() {
        if (processes.stream().anyMatch(Identity::isAlive)) {
            return true;
        }
        try {
            Tenant now = Tenant.read(made.file());
            return now.createdNanos() == made.createdNanos() && now.running();
        } catch (SluiceException e) {
            return false;
        }
    }

    /// The descriptor of the limits. It stays open.
    int limits() {
        return limits.descriptor();
    }

    void follow() {
        limits.follow();
    }

    @Override
    public void close() {
        limits.close();
    }
}
