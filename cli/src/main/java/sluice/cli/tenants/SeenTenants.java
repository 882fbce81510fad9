package sluice.cli.tenants;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import sluice.api.client.AgentAudit;
import sluice.api.client.AgentTenants;
import sluice.api.limits.LimitsSetter;
import sluice.api.model.AuditReport;
import sluice.api.model.ClaimPlace;
import sluice.api.model.OnBoards;
import sluice.api.pause.FollowedOperation;
import sluice.api.pause.PauseBody;
import sluice.api.pause.PauseOperation;
import sluice.cuda.Nvml;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.Tenants;
import sluice.region.boards.BoardState;
import sluice.region.calls.TenantCalls;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.restore.RestoreRoom;

/// The tenants that this user may see: those whose regions can be read, and those that only an agent can show.
public final class SeenTenants {
    private final List<RuntimeDirectory> directories;
    private final Tenants readable;
    private final Optional<AgentTenants> agent;
    private List<String> unreadable = List.of();

    public SeenTenants(Map<String, String> environment) {
        directories = RuntimeDirectory.existing(environment);
        readable = new Tenants(directories);
        agent = AgentTenants.find(directories);
    }

    /// Deletes what nobody needs any more. @return what is left, oldest first
    List<Tenant> sweep() {
        return all(readable.sweep(Instant.now()));
    }

    /// What they are now, oldest first.
    public List<Tenant> list() {
        return all(readable.look(Processes.once()));
    }

    private List<Tenant> all(Tenants.Look look) {
        unreadable = look.unreadable();
        List<Tenant> tenants = new ArrayList<>(look.tenants());
        agent.ifPresent(more -> tenants.addAll(more.look()));
        tenants.sort(Comparator.comparingLong(Tenant::createdNanos).thenComparing(Tenant::name));
        return tenants;
    }

    /// Where the claims of a cluster are, by the names of their tenants; none without an agent.
    Map<String, ClaimPlace> claims() {
        try {
            return agent.map(AgentTenants::claims).orElse(Map.of());
        } catch (SluiceException e) {
            return Map.of(); // the agent went away, or is of a version that cannot tell
        }
    }

    /// Why the last look left files out.
    List<String> unreadable() {
        return unreadable;
    }

    /// What the audit of the agent has found; empty when there is no agent.
    Optional<AuditReport> audit() {
        return agent.flatMap(there -> AgentAudit.find(directories));
    }

    /// The tenant that a user means.
    public Tenant find(String wanted) {
        return wanted.contains("/") || agent.isEmpty() ? readable.find(wanted)
                : Tenants.choose(list(), wanted).orElseGet(() -> readable.find(wanted));
    }

    /// A tenant as it is now.
    Tenant now(Tenant tenant) {
        return isReadable(tenant) ? Tenant.read(tenant.file())
                : agent.orElseThrow().look().stream().filter(seen -> seen.file().equals(tenant.file())).findFirst()
                        .orElseThrow(() -> new SluiceException("tenant '" + tenant.name() + "' is gone"));
    }

    TenantCalls calls(Tenant tenant) {
        return isReadable(tenant) ? TenantCalls.read(tenant.file()) : agent.orElseThrow().calls(tenant);
    }

    public OnBoards boards() {
        List<BoardState> boards = new ArrayList<>(OnBoards.in(directories).boards());
        agent.ifPresent(more -> boards.addAll(more.boards()));
        return new OnBoards(boards);
    }

    OnBoards boards(Tenant tenant) {
        return isReadable(tenant) ? OnBoards.in(List.of(folder(tenant))) : boards();
    }

    public Tenant set(Tenant tenant, LimitsChange change) {
        if (!isReadable(tenant)) {
            return agent.orElseThrow().set(tenant, change);
        }
        boolean forSome = !change.gpus().isEmpty();
        return LimitsSetter.set(tenant, change, Nvml.uuids(forSome ? Nvml.open().map(Nvml::gpus).orElse(List.of()) : List.of()));
    }

    /// Begins a pause or a resume: here, or where only the agent can write the region, by the agent.
    public FollowedOperation operate(Tenant tenant, PauseBody wanted) {
        return isReadable(tenant) ? PauseOperation.begin("local", tenant, wanted.kind(), wanted.timeout(), room()) : agent.orElseThrow().operate(tenant, wanted);
    }

    /// What a vacated tenant lacks to come back; empty: nothing, and where its region can be written here, it has been told so.
    Optional<String> lacking(Tenant tenant) {
        return isReadable(tenant) ? room().look(tenant) : RestoreRoom.estimate(tenant, SeenTenants::freeBytes);
    }

    private RestoreRoom room() {
        return new RestoreRoom(() -> readable.look(Processes.once()).tenants(), SeenTenants::freeBytes);
    }

    private static OptionalLong freeBytes(TenantGpu gpu) {
        return Nvml.open().stream().flatMap(nvml -> nvml.gpus().stream()).filter(seen -> seen.uuid().equals(gpu.uuid())).mapToLong(Nvml.Gpu::freeBytes).findFirst();
    }

    /// Whether its region can be read here, and not only by an agent.
    public boolean isReadable(Tenant tenant) {
        return agent.isEmpty() || agent.get().list().stream().noneMatch(seen -> seen.file().equals(tenant.file()));
    }

    private static RuntimeDirectory folder(Tenant tenant) {
        return new RuntimeDirectory(tenant.file().toAbsolutePath().getParent());
    }
}
