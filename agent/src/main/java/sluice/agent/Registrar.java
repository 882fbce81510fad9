package sluice.agent;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.region.Identity;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RegionLayout;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;
import sluice.region.Tenant;
import sluice.region.ThisProcess;

/// Finds the tenant that a process belongs to, or makes it. A container is one tenant; outside of containers it is a process
/// with all that it started; a rule of the policy may name one for all who fit.
///
/// It keeps nothing that is not in the regions, so the next agent takes over the tenants of this one.
final class Registrar implements AutoCloseable {
    private static final int MOST_TENANTS = 1024;
    private static final int MOST_TENANTS_OF_A_USER = 512;

    private static final int FOLLOWS_BETWEEN_ENDS = 20;
    private static final String NO_LABEL = "-";

    private final RuntimeDirectory directory;
    private final PolicyFile policy;
    private final EventLog events;
    private final boolean allUsers;
    private final HandedBoards boards;
    private long follows;
    private final Map<String, RegisteredTenant> tenants = new HashMap<>();
    private final List<RegisteredTenant> adopted = new ArrayList<>();

    Registrar(RuntimeDirectory directory, PolicyFile policy, EventLog events, boolean allUsers) {
        this.directory = directory;
        this.allUsers = allUsers;
        this.policy = policy;
        this.events = events;
        boards = new HandedBoards(directory);
        directory.files("*.region").stream().filter(Region::isSplit).forEach(this::adopt);
    }

    private void adopt(Path file) {
        try {
            Tenant tenant = Tenant.read(file);
            if (tenant.running()) {
                RegisteredTenant taken = new RegisteredTenant(tenant);
                tenants.put(tenant.name(), taken);
                adopted.add(taken);
                events.add("adopted", tenant.name(), tenant.uid(), "an agent before this one registered it; its limits and processes are as they were");
            }
        } catch (SluiceException e) {
            String name = file.getFileName().toString().replace(".region", "");
            events.add("not-adopted", name, ThisProcess.current().uid(), "its limits stay as they are until it ends: " + e.getMessage());
        }
    }

    /// Tells the processes of tenants from before that this agent has limits for them. They ask at once, so it must listen.
    synchronized void recall() {
        adopted.forEach(RegisteredTenant::recall);
    }

    /// The tenant of a process. What the label says decides only between the rules that the administrator wrote for labels.
    synchronized RegisteredTenant register(RegisteringPeer peer, String label) {
        PolicyRule rule = policy.now().find(peer, label).filter(found -> !found.refused()).orElseThrow(() -> new SluiceException(
                "the policy has none for user " + peer.uid() + " in cgroup " + shown(peer.cgroup()) + " with label " + label));
        Optional<String> name = rule.tenant().or(peer::containerName);
        Optional<RegisteredTenant> known = name.isPresent() ? name.map(tenants::get) : inherited(peer);
        RegisteredTenant tenant = known.filter(RegisteredTenant::isRunning).orElseGet(() -> make(peer, rule, name));
        tenant.add(peer.process());
        return tenant;
    }

    /// The tenant of a process that has been registered, here or by an agent before this one. What the policy says now changes nothing.
    synchronized RegisteredTenant find(RegisteringPeer peer, String label) {
        return inherited(peer)
                .or(() -> peer.containerName().map(tenants::get))
                .or(() -> policy.now().find(peer, label).flatMap(PolicyRule::tenant).map(tenants::get))
                .filter(RegisteredTenant::isRunning)
                .orElseThrow(() -> new SluiceException("pid " + peer.process().pid() + " has no region; ask for that first"));
    }

    /// The board of a GPU, for a process of a tenant that takes turns. The folder's own is for its user's processes outside of containers
    /// where the agent serves that user alone; the tenants of an agent for all users take turns across users.
    synchronized HandedBoards.Handed board(RegisteringPeer peer, String uuid) {
        find(peer, NO_LABEL);
        boolean own = !allUsers && peer.container().isEmpty() && peer.uid() == directory.owner();
        return own ? boards.inFolder(uuid) : boards.sealed(uuid);
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
        if (isFull(peer.uid())) {
            forgetEnded();
        }
        if (isFull(peer.uid())) {
            throw new SluiceException("there are " + tenants.size() + " tenants already, " + tenantsOf(peer.uid()) + " of them user " + peer.uid() + "'s; end some");
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

    private boolean isFull(long uid) {
        return tenants.size() >= MOST_TENANTS || tenantsOf(uid) >= MOST_TENANTS_OF_A_USER;
    }

    private long tenantsOf(long uid) {
        return tenants.values().stream().filter(tenant -> tenant.uid() == uid).count();
    }

    private void forgetEnded() {
        tenants.values().removeIf(tenant -> {
            boolean ended = !tenant.isRunning();
            if (ended) {
                tenant.close();
            }
            return ended;
        });
        adopted.retainAll(tenants.values());
    }

    /// Brings changed limits to the tenants, and takes back what a tenant made its ledger longer: the file is in a folder that others
    /// need space in.
    synchronized void follow() {
        if (++follows % FOLLOWS_BETWEEN_ENDS == 0) {
            forgetEnded();
            recall();
            policy.follow().ifPresent(said -> events.add("policy", "", ThisProcess.current().uid(), said));
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
