package sluice.agent.registration;

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
import java.util.Set;
import java.util.stream.Collectors;
import sluice.agent.machine.EventLog;
import sluice.agent.os.RegisteringPeer;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.LimitSource;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// The tenants whose regions this agent hands out, by the names of their files.
///
/// All its state is in the regions, so the next agent takes over the tenants of this agent.
final class RegisteredTenants implements AutoCloseable {
    private static final String SUFFIX = ".region";
    /// No name of a tenant has this character, so no user can choose a name of another user or of a container.
    private static final String OF_USER = "~";
    private static final String OF_CLAIM = "claim+";

    private final RuntimeDirectory directory;
    private final EventLog events;
    private final Bounds bounds;
    private final Map<String, RegisteredTenant> tenants = new HashMap<>();
    private final List<RegisteredTenant> adopted = new ArrayList<>();
    private final EndedTenants ended = new EndedTenants();

    /// The most tenants.
    record Bounds(int all, int ofUser) {
        static final Bounds STANDARD = new Bounds(1024, 512);
    }

    RegisteredTenants(RuntimeDirectory directory, EventLog events, Bounds bounds) {
        this.directory = directory;
        this.events = events;
        this.bounds = bounds;
        directory.files("", SUFFIX).stream().filter(Region::isSplit).forEach(this::adopt);
    }

    private void adopt(Path file) {
        String key = keyOf(file);
        try {
            Tenant tenant = Tenant.read(file);
            if (tenant.state().lives()) {
                RegisteredTenant taken = new RegisteredTenant(tenant);
                tenants.put(key, taken);
                adopted.add(taken);
                events.add("adopted", tenant.name(), tenant.uid(), "an agent before this one registered it; its limits and processes are as they were");
            }
        } catch (SluiceException e) {
            events.add("not-adopted", key, ThisProcess.current().uid(), "its limits stay as they are until it ends: " + e.getMessage());
        }
    }

    /// The processes of tenants that an earlier agent registered.
    Set<Identity> adoptedProcesses() {
        return adopted.stream().flatMap(tenant -> tenant.processes().stream()).collect(Collectors.toSet());
    }

    /// Tells the processes of earlier tenants that this agent has limits pages for them. They ask at once, so the agent must listen already.
    void recall() {
        adopted.forEach(RegisteredTenant::recall);
    }

    static String keyOf(Path file) {
        return file.getFileName().toString().replace(SUFFIX, "");
    }

    /// The key of a tenant that a user named.
    static String keyOf(String name, long uid) {
        return name + OF_USER + uid;
    }

    /// The key of the tenant of a cluster's claim.
    static String keyOfClaim(String id) {
        return OF_CLAIM + id;
    }

    /// The source of a tenant's limits: the user for tenants of `sluice run`, the cluster for tenants of claims, the policy for all others.
    static LimitSource source(Path file) {
        String name = file.getFileName().toString();
        return name.contains(OF_USER) ? LimitSource.COMMAND_LINE : name.startsWith(OF_CLAIM) ? LimitSource.CLAIM : LimitSource.POLICY;
    }

    /// The id of a tenant's claim.
    static Optional<String> claimOf(Path file) {
        String key = keyOf(file);
        return key.startsWith(OF_CLAIM) ? Optional.of(key.substring(OF_CLAIM.length())) : Optional.empty();
    }

    Optional<RegisteredTenant> get(String key) {
        return Optional.ofNullable(tenants.get(key));
    }

    /// The tenant of the claim that a process registered with. Processes of several users may share it.
    Optional<RegisteredTenant> ofClaim(Identity process) {
        return tenants.entrySet().stream().filter(tenant -> tenant.getKey().startsWith(OF_CLAIM) && tenant.getValue().has(process)).map(Map.Entry::getValue).findFirst();
    }

    /// The tenant of the nearest of its ancestors that has one, or its own.
    Optional<RegisteredTenant> inherited(RegisteringPeer peer) {
        for (Identity ancestor : peer.lineage()) {
            for (RegisteredTenant tenant : tenants.values()) {
                if (tenant.uid() == peer.uid() && tenant.has(ancestor)) {
                    return Optional.of(tenant);
                }
            }
        }
        return Optional.empty();
    }

    RegisteredTenant make(String key, RegionDraft draft, RegisteringPeer peer) {
        if (isFull(peer.uid())) {
            forgetEnded();
        }
        if (isFull(peer.uid())) {
            throw new SluiceException("there are " + tenants.size() + " tenants already, " + tenantsOf(peer.uid()) + " of them user " + peer.uid() + "'s; end some");
        }
        ended.forget(directory.region(key));
        RegisteredTenant made = new RegisteredTenant(Tenant.read(Region.createSplit(directory, draft, peer.uid(), key)));
        RegisteredTenant before = tenants.put(key, made);
        if (before != null) {
            before.close();
            adopted.remove(before);
        }
        events.add("registered", draft.tenant(), peer.uid(), "pid " + peer.process().pid()
                + peer.container().map(id -> " of container " + id.substring(0, Math.min(12, id.length()))).orElse("") + " has a region by " + source(made.file()).words());
        return made;
    }

    private boolean isFull(long uid) {
        return tenants.size() >= bounds.all() || tenantsOf(uid) >= bounds.ofUser();
    }

    private long tenantsOf(long uid) {
        return tenants.values().stream().filter(tenant -> tenant.uid() == uid).count();
    }

    void forgetEnded() {
        tenants.values().removeIf(tenant -> {
            boolean lives = tenant.lives();
            if (!lives) {
                tenant.close();
                ended.add(tenant);
            }
            return !lives;
        });
        adopted.retainAll(tenants.values());
    }

    /// Ends a tenant whose processes are gone. It goes on if the agent knows one that lives.
    void end(String key) {
        get(key).filter(tenant -> !tenant.hasLiveProcess()).ifPresent(tenant -> {
            tenant.empty();
            tenants.remove(key);
            adopted.remove(tenant);
            tenant.close();
            ended.add(tenant);
        });
    }

    /// Brings changed limits to the tenants. Also truncates a ledger that its tenant made longer, because others need space in the same
    /// folder.
    void follow() {
        tenants.values().forEach(tenant -> {
            tenant.follow();
            try {
                if (Files.size(tenant.ledger()) > tenant.bytes()) {
                    try (FileChannel ledger = FileChannel.open(tenant.ledger(), StandardOpenOption.WRITE)) {
                        ledger.truncate(tenant.bytes());
                    }
                    events.add("ledger", tenant.name(), tenant.uid(), "the tenant made its ledger longer; that was taken back");
                }
            } catch (IOException e) {
                // Swept, since it has ended.
            }
        });
    }

    @Override
    public void close() {
        tenants.values().forEach(RegisteredTenant::close);
        tenants.clear();
    }
}
