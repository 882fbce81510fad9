package sluice.agent.registration;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import sluice.agent.os.RegisteringPeer;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantProcess;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// A tenant whose region this agent hands out.
final class RegisteredTenant implements AutoCloseable {
    private final Tenant made;
    private final Set<Identity> processes = new HashSet<>();
    private final HandedLimits limits;
    private Optional<String> label = Optional.empty();

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

    /// The rule that gave its limits; unknown for a tenant of an earlier agent.
    Optional<String> label() {
        return label;
    }

    void label(String said) {
        label = Optional.of(said);
    }

    long createdNanos() {
        return made.createdNanos();
    }

    Set<Identity> processes() {
        return processes;
    }

    Path file() {
        return made.file();
    }

    Path ledger() {
        return Region.ledger(made.file());
    }

    /// The right length of its ledger.
    long bytes() {
        return limits.regionBytes();
    }

    void add(Identity process) {
        processes.removeIf(known -> !known.isAlive());
        processes.add(process);
    }

    boolean has(Identity process) {
        return processes.contains(process);
    }

    boolean hasLiveProcess() {
        return processes.stream().anyMatch(Identity::isAlive);
    }

    /// A tenant whose ledger was truncated counts as ended.
    boolean lives() {
        if (hasLiveProcess()) {
            return true;
        }
        try {
            Tenant now = Tenant.read(made.file());
            boolean lives = now.createdNanos() == made.createdNanos() && now.state().lives();
            if (lives && isContainer() && !RegisteringPeer.anyIn(key())) {
                empty();
                return false;
            }
            return lives;
        } catch (SluiceException e) {
            return false;
        }
    }

    /// A user may name a job like a container, but the name of its file has the user in it.
    private boolean isContainer() {
        return RegisteringPeer.isContainerName(key());
    }

    private String key() {
        return RegisteredTenants.keyOf(made.file());
    }

    /// The agent cannot judge which processes live in the pid namespace of a container, so its slots would stay taken for ever. But no
    /// process is in its cgroup any more.
    void empty() {
        try (Region region = Region.openReadWrite(made.file())) {
            for (int slot = 0; slot < RegionLayout.SLOT_COUNT; slot++) {
                region.slot(slot).owner(0);
            }
        } catch (SluiceException | InternalError e) {
            // Swept, or truncated: it counts as ended.
        }
    }

    /// The descriptor of the limits. It stays open.
    int limits() {
        return limits.descriptor();
    }

    void follow() {
        limits.follow();
    }

    /// Tells its processes that this agent has a limits page for them: no agent can change the page of an earlier agent. A process asks for
    /// the page at its next CUDA call. A process that has asked, or is new, has it already.
    void recall() {
        long page = limits.inode();
        try (Region region = Region.openReadWrite(made.file())) {
            for (int number = 0; number < RegionLayout.SLOT_COUNT; number++) {
                SlotView slot = region.slot(number);
                if (slot.owner() > 0 && slot.limitsPage() != page) {
                    slot.limitsPage(page);
                }
            }
        } catch (SluiceException | InternalError e) {
            // It has ended, or truncated its ledger.
        }
    }

    @Override
    public void close() {
        limits.close();
    }
}
