package sluice.agent;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import sluice.region.Identity;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RegionLayout;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;
import sluice.region.Tenant;

/// Finds the tenant that a process belongs to, or makes it. A container is one tenant; outside of containers it is a process
/// with all that it started; a rule of the policy may name one for all who fit.
///
/// It keeps nothing that is not in the regions, so the next agent takes over the tenants of this one.
final class Registrar implements AutoCloseable {
    private static final int MOST_TENANTS = 512;
    private static final int MOST_TENANTS_OF_A_USER = 128;

    private static final int FOLLOWS_BETWEEN_ENDS = 20;

    private final RuntimeDirectory directory;
    private final Policy policy;
    private final EventLog events;
    private final HandedBoards boards;
    private long follows;
    private final Map<String, RegisteredTenant> tenants = new HashMap<>();

    Registrar(RuntimeDirectory directory, Policy policy, EventLog events) {
        this.directory = directory;
        this.policy = policy;
        this.events = events;
        boards = new HandedBoards(directory);
        directory.files("*.region").stream().filter(Region::isSplit).forEach(this::adopt);
    }

    private void adopt(Path file) {
        try {
            Tenant tenant = Tenant.read(file);
            if (tenant.running()) {
                tenants.put(tenant.name(), new RegisteredTenant(tenant));
            }
        } catch (SluiceException e) {
            // Another version's, or cut: nothing to take over.
        }
    }

    /// The tenant of a process. What the label says decides only between the rules that the administrator wrote for labels.
    synchronized RegisteredTenant register(RegisteringPeer peer, String label) {
        PolicyRule rule = policy.find(peer, label).filter(found -> !found.refused()).orElseThrow(() -> new SluiceException(
                "the policy has none for user " + peer.uid() + " in cgroup " + shown(peer.cgroup()) + " with label " + label));
        Optional<String> name = rule.tenant().or(peer::containerName);
        Optional<RegisteredTenant> known = name.isPresent() ? name.map(tenants::get) : inherited(peer);
        RegisteredTenant tenant = known.filter(RegisteredTenant::isRunning).orElseGet(() -> make(peer, rule, name));
        tenant.add(peer.process());
        return tenant;
    }

    /// The board of a GPU, for a process of a tenant that takes turns.
    synchronized int board(RegisteringPeer peer, String uuid) {
        boolean registered = tenants.values().stream().anyMatch(tenant -> peer.lineage().stream().anyMatch(tenant::has));
        if (!registered) {
            throw new SluiceException("pid " + peer.process().pid() + " has no region; ask for that first");
        }
        return boards.of(uuid);
    }

    private static String shown(String cgroup) {
        return cgroup.length() <= 60 ? cgroup : "..." + cgroup.substring(cgroup.length() - 57);
    }

    private Optional<RegisteredTenant> inherited(RegisteringPeer peer) {
        for (Identity ancestor : peer.lineage()) {
            for (RegisteredTenant tenant : tenants.values()) {
                if (tenant.uid() == peer.uid() && tenant.has(ancestor)) {
                    return Optional.of(tenant);
                }
            }
        }
        return Optional.empty();
    }

    private RegisteredTenant make(RegisteringPeer peer, PolicyRule rule, Optional<String> wanted) {
        forgetEnded();
        long ofUser = tenants.values().stream().filter(tenant -> tenant.uid() == peer.uid()).count();
        if (tenants.size() >= MOST_TENANTS || ofUser >= MOST_TENANTS_OF_A_USER) {
            throw new SluiceException("there are " + tenants.size() + " tenants already, " + ofUser + " of them user " + peer.uid() + "'s; end some");
        }
        String command = ProcessHandle.of(peer.process().pid()).flatMap(process -> process.info().commandLine()).orElse("");
        String program = ProcessHandle.of(peer.process().pid()).flatMap(process -> process.info().command()).orElse("process");
        String name = wanted.orElseGet(() -> RegionDraft.nameFor(program, peer.process().pid()));
        Path file = Region.createSplit(directory, new RegionDraft(name, command, peer.origin(), rule.onError(), rule.onOom(),
                rule.memory(), rule.compute()), peer.uid());
        RegisteredTenant made = new RegisteredTenant(Tenant.read(file));
        tenants.put(name, made);
        events.add("registered", name, peer.uid(), "pid " + peer.process().pid()
                + peer.container().map(id -> " of container " + id.substring(0, Math.min(12, id.length()))).orElse("") + " has a region by the policy");
        return made;
    }

    private void forgetEnded() {
        tenants.values().removeIf(tenant -> {
            boolean ended = !tenant.isRunning();
            if (ended) {
                tenant.close();
            }
            return ended;
        });
    }

    /// Brings changed limits to the tenants, and takes back what a tenant made its ledger longer: the file is in a folder that others
    /// need space in.
    synchronized void follow() {
        if (++follows % FOLLOWS_BETWEEN_ENDS == 0) {
            forgetEnded();
        }
        tenants.forEach((name, tenant) -> {
            tenant.follow();
            try {
                if (Files.size(tenant.ledger()) > RegionLayout.REGION_BYTES) {
                    try (FileChannel ledger = FileChannel.open(tenant.ledger(), StandardOpenOption.WRITE)) {
                        ledger.truncate(RegionLayout.REGION_BYTES);
                    }
                    events.add("ledger", name, tenant.uid(), "the tenant made its ledger longer; that was taken back");
                }
            } catch (IOException e) {
                // Swept, since it has ended.
            }
        });
    }

    @Override
    public synchronized void close() {
        tenants.values().forEach(RegisteredTenant::close);
        tenants.clear();
        boards.close();
    }
}
