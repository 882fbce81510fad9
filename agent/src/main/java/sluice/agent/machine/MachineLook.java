package sluice.agent.machine;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.api.model.AuditFinding;
import sluice.api.model.NodeClaim;
import sluice.api.model.OnBoards;
import sluice.cuda.NvmlFacts;
import sluice.region.Tenant;
import sluice.region.boards.BoardState;

/// The state of the machine at one moment. It is immutable.
///
/// @param number   counts looks from the start of the agent
/// @param findings of the audit at that moment
/// @param events   the last ones, oldest first
public record MachineLook(
        long number,
        Instant at,
        long readNanos,
        List<GpuLook> gpus,
        List<TenantLook> tenants,
        List<BoardLook> boards,
        List<AuditFinding> findings,
        List<Event> events) {

    public static final MachineLook NONE =
            new MachineLook(0, Instant.EPOCH, 0, List.of(), List.of(), List.of(), List.of(), List.of());

    public MachineLook {
        gpus = List.copyOf(gpus);
        tenants = List.copyOf(tenants);
        boards = List.copyOf(boards);
        findings = List.copyOf(findings);
        events = List.copyOf(events);
    }

    /// The part that a caller may see.
    public MachineLook seenBy(Caller caller) {
        if (caller.rights() != Caller.Rights.OWN) {
            return this;
        }
        return new MachineLook(number, at, readNanos, gpus,
                tenants.stream().filter(look -> caller.sees(look.tenant().uid())).toList(),
                boards.stream().filter(board -> caller.sees(board.uid())).toList(),
                findings.stream().filter(finding -> caller.sees(finding.uid())).toList(),
                events.stream().filter(event -> caller.sees(event.uid())).toList());
    }

    /// The tenant with a name. If two users have tenants of this name, the tenant of the user.
    public Optional<TenantLook> tenant(String name, Optional<Long> uid) {
        List<TenantLook> named = tenants.stream().filter(look -> look.tenant().name().equals(name))
                .filter(look -> uid.isEmpty() || look.tenant().uid() == uid.get()).toList();
        if (named.size() > 1) {
            throw new Refusal(409, "several users have a tenant '" + name + "'; add ?uid=, one of "
                    + String.join(", ", named.stream().map(look -> Long.toString(look.tenant().uid())).toList()));
        }
        return named.stream().findFirst();
    }

    public OnBoards onBoards() {
        return new OnBoards(boards.stream().map(BoardLook::state).toList());
    }

    /// A GPU. Unknown values are negative.
    ///
    /// @param usedBytes    of all programs, by NVML; without NVML of all tenants
    /// @param tenantsBytes of the tenants, by their ledgers
    /// @param health       its faults, in words
    /// @param facts        the kind of GPU
    public record GpuLook(int index, String uuid, String name, long totalBytes, long usedBytes, long tenantsBytes,
            int utilizationPercent, int temperatureCelsius, List<String> health, NvmlFacts.Facts facts) {
        public GpuLook(int index, String uuid, String name, long totalBytes, long usedBytes, long tenantsBytes, int utilizationPercent, int temperatureCelsius,
                List<String> health) {
            this(index, uuid, name, totalBytes, usedBytes, tenantsBytes, utilizationPercent, temperatureCelsius, health, NvmlFacts.Facts.UNKNOWN);
        }
    }

    /// A tenant and its recent activity.
    ///
    /// @param rates in the order of the tenant's GPUs
    /// @param claim of a cluster, by which the tenant got its limits
    public record TenantLook(Tenant tenant, double callsPerSecond, List<Rates> rates, Optional<NodeClaim> claim) {
        public TenantLook(Tenant tenant, double callsPerSecond, List<Rates> rates) {
            this(tenant, callsPerSecond, rates, Optional.empty());
        }

        TenantLook of(Optional<NodeClaim> known) {
            return known.isEmpty() ? this : new TenantLook(tenant, callsPerSecond, rates, known);
        }
    }

    /// The activity of a tenant on one GPU in the last second or so.
    ///
    /// @param overNanos         how long that is; 0 when there was no look before
    /// @param gotPermille       of the GPU's time; -1 when it cannot be said
    /// @param capWaitedPermille how long calls waited, of the time that passed, all threads together
    public record Rates(long overNanos, int gotPermille, double submittedPerSecond, double refusedPerSecond,
            int capWaitedPermille, int turnWaitedPermille) {
        public static final Rates NONE = new Rates(0, -1, 0, 0, 0, 0);
    }

    /// A board of one user's tenants, and how often turns changed hands in the last second or so.
    public record BoardLook(BoardState state, long uid, double handOversPerSecond, double seizedPerSecond) {
        /// The tenant whose turn it is.
        public Optional<String> holder() {
            return state.tenants().stream().filter(tenant -> tenant.holds()).map(tenant -> tenant.name()).findFirst();
        }
    }
}
