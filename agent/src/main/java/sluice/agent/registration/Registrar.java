package sluice.agent.registration;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sluice.agent.claims.DeclaredClaims;
import sluice.agent.machine.EventLog;
import sluice.agent.os.RegisteringPeer;
import sluice.api.model.NodeClaim;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;
import sluice.region.limits.Limits;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Finds the tenant that a process belongs to, or makes it. A container is one tenant, and so is a job of `sluice run`. Elsewhere a tenant
/// is a process with all that it started. A rule of the policy may name one tenant for all jobs that fit.
final class Registrar implements AutoCloseable {
    private static final int FOLLOWS_BETWEEN_ENDS = 20;
    private static final String NO_LABEL = "-";

    private final RuntimeDirectory directory;
    private final PolicyFile policy;
    private final EventLog events;
    private final boolean allUsers;
    private final HandedBoards boards;
    private final RegisteredTenants tenants;
    private final DeclaredClaims claims;
    private long follows;

    Registrar(RuntimeDirectory directory, PolicyFile policy, DeclaredClaims claims, EventLog events, boolean allUsers) {
        this.directory = directory;
        this.allUsers = allUsers;
        this.policy = policy;
        this.claims = claims;
        this.events = events;
        tenants = new RegisteredTenants(directory, events, RegisteredTenants.Bounds.STANDARD);
        boards = new HandedBoards(directory);
        boards.adopt(tenants.adoptedProcesses(), problem -> events.add("board", "", ThisProcess.current().uid(), problem));
    }

    synchronized void recall() {
        tenants.recall();
    }

    DeclaredClaims claims() {
        return claims;
    }

    /// For the cluster, the processes of a withdrawn claim have ended. A process that has not ended keeps its limits.
    synchronized void withdraw(String id) {
        claims.withdraw(id);
        tenants.end(RegisteredTenants.keyOfClaim(id));
    }

    /// The limits of a job, and the name of its tenant.
    ///
    /// @param less the limits that the job asked for and did not get, as text for people; empty: it got all
    record Granted(RegisteredTenant tenant, Limits limits, String less) {}

    /// The tenant of a process. The label only selects among the rules that the administrator wrote for labels.
    synchronized RegisteredTenant register(RegisteringPeer peer, String label) {
        if (DeclaredClaims.isLabel(label)) {
            return ofClaim(peer, claim(label));
        }
        Optional<String> shared = shared(peer, rule(peer, label));
        Optional<RegisteredTenant> known = shared.isPresent() ? shared.flatMap(tenants::get) : tenants.inherited(peer);
        RegisteredTenant tenant = known.filter(RegisteredTenant::lives).orElseGet(() -> make(peer, label, shared));
        tenant.add(peer.process());
        return tenant;
    }

    /// No policy bounds a claim, because the cluster has accounted for it.
    private RegisteredTenant ofClaim(RegisteringPeer peer, NodeClaim claim) {
        String key = RegisteredTenants.keyOfClaim(claim.id());
        RegisteredTenant tenant = tenants.get(key).filter(RegisteredTenant::lives).orElseGet(() -> {
            String command = ProcessHandle.of(peer.process().pid()).map(ProcessHandle::info).flatMap(ProcessHandle.Info::commandLine).orElse("");
            return tenants.make(key, new RegionDraft(claim.tenant(), claim.user() + ": " + command, peer.origin(), limits(claim).limits()), peer);
        });
        tenant.add(peer.process());
        return tenant;
    }

    private NodeClaim claim(String label) {
        return claims.ofLabel(label).orElseThrow(() -> new SluiceException("the cluster's claim of this job does not hold on this machine; was it withdrawn?"));
    }

    private static GivenLimits limits(NodeClaim claim) {
        return GivenLimits.of(LimitSource.CLAIM, claim.limits());
    }

    private RegisteredTenant make(RegisteringPeer peer, String label, Optional<String> shared) {
        if (policy.isAsAsked()) {
            throw new SluiceException("the agent has no policy; start jobs by 'sluice run', or write one");
        }
        PolicyRule rule = rule(peer, label).orElseThrow(() -> none(peer, label));
        Optional<ProcessHandle.Info> process = ProcessHandle.of(peer.process().pid()).map(ProcessHandle::info);
        String name = shared.orElseGet(() -> RegionDraft.nameFor(process.flatMap(ProcessHandle.Info::command).orElse("process"), peer.process().pid()));
        String command = process.flatMap(ProcessHandle.Info::commandLine).orElse("");
        return tenants.make(name, new RegionDraft(name, command, peer.origin(), rule.limits().limits()), peer);
    }

    /// Makes the tenant of a `sluice run`, which becomes the job. It may ask for less than the policy gives.
    synchronized Granted run(RegisteringPeer peer, String label, String name, String command, GivenLimits asked) {
        if (DeclaredClaims.isLabel(label)) {
            NodeClaim claim = claim(label);
            return joined(ofClaim(peer, claim), limits(claim), asked);
        }
        PolicyRule rule = rule(peer, label).orElseThrow(() -> none(peer, label));
        if (shared(peer, Optional.of(rule)).isPresent()) {
            return joined(register(peer, label), rule.limits(), asked);
        }
        Limits granted = asked.within(rule.limits());
        RegisteredTenant made = tenants.make(RegisteredTenants.keyOf(name, peer.uid()), new RegionDraft(name, command, peer.process(), granted), peer);
        made.label(label);
        List<String> less = asked.missing(granted);
        return new Granted(made, granted, less.isEmpty() ? "" : rule.limits().source().words() + " gives less than was asked for: " + String.join(", ", less));
    }

    private static Granted joined(RegisteredTenant tenant, GivenLimits given, GivenLimits asked) {
        return new Granted(tenant, given.limits(), "the job is part of tenant '" + tenant.name() + "' by " + given.source().words() + ", and has its limits"
                + (asked.words().isEmpty() ? "" : " instead of those asked for"));
    }

    /// The name of the tenant that a process shares with others that it did not start.
    private Optional<String> shared(RegisteringPeer peer, Optional<PolicyRule> rule) {
        return policy.isAsAsked() ? Optional.empty() : rule.flatMap(PolicyRule::tenant).or(peer::containerName);
    }

    private Optional<PolicyRule> rule(RegisteringPeer peer, String label) {
        return policy.now().find(peer, label).filter(found -> !found.refused());
    }

    private static SluiceException none(RegisteringPeer peer, String label) {
        return new SluiceException("the policy has none for user " + peer.uid() + " in cgroup " + shown(peer.cgroup()) + " with label " + label);
    }

    /// The tenant of a process that has registered at this agent or an earlier one. The present policy does not change it.
    synchronized RegisteredTenant find(RegisteringPeer peer, String label) {
        return claims.ofLabel(label).map(NodeClaim::id).map(RegisteredTenants::keyOfClaim).flatMap(tenants::get)
                .or(() -> tenants.ofClaim(peer.process()))
                .or(() -> tenants.inherited(peer))
                .or(() -> peer.containerName().flatMap(tenants::get))
                .or(() -> policy.now().find(peer, label).flatMap(PolicyRule::tenant).flatMap(tenants::get))
                .filter(RegisteredTenant::lives)
                .orElseThrow(() -> new SluiceException("pid " + peer.process().pid() + " has no region; ask for that first"));
    }

    /// The board of a GPU, for a process of a tenant that takes turns. The folder's own is for its user's processes outside of containers
    /// where the agent serves that user alone; the tenants of an agent for all users take turns across users.
    synchronized HandedBoards.Handed board(RegisteringPeer peer, String uuid) {
        find(peer, NO_LABEL);
        boolean own = !allUsers && peer.container().isEmpty() && peer.uid() == directory.owner();
        return own ? boards.inFolder(uuid) : boards.sealed(uuid);
    }

    /// The cluster's claim of a tenant. Only the agent makes files in its folder, so no user can name another user's claim.
    Optional<NodeClaim> claim(Tenant tenant) {
        return Optional.of(tenant.file().toAbsolutePath()).filter(file -> file.startsWith(directory.path().toAbsolutePath())).flatMap(RegisteredTenants::claimOf).flatMap(claims::find);
    }

    /// The most that the user of a tenant may set; empty where only an administrator may.
    synchronized Optional<GivenLimits> bounds(Tenant tenant) {
        Path file = tenant.file();
        if (!file.toAbsolutePath().startsWith(directory.path().toAbsolutePath()) || RegisteredTenants.source(file) != LimitSource.COMMAND_LINE) {
            return Optional.empty();
        }
        Optional<RegisteredTenant> known = tenants.get(RegisteredTenants.keyOf(tenant.name(), tenant.uid()))
                .filter(found -> found.createdNanos() == tenant.createdNanos());
        Optional<String> label = known.flatMap(found -> policy.isAsAsked() ? Optional.of(NO_LABEL) : found.label());
        return label.flatMap(said -> rule(RegisteringPeer.of(tenant.uid(), tenant.root().pid()), said)).map(PolicyRule::limits);
    }

    private static String shown(String cgroup) {
        return cgroup.length() <= 60 ? cgroup : "..." + cgroup.substring(cgroup.length() - 57);
    }

    synchronized void follow() {
        if (++follows % FOLLOWS_BETWEEN_ENDS == 0) {
            tenants.forgetEnded();
            tenants.recall();
            policy.follow().ifPresent(said -> events.add("policy", "", ThisProcess.current().uid(), said));
        }
        tenants.follow();
    }

    @Override
    public synchronized void close() {
        tenants.close();
        boards.close();
    }
}
