package sluice.planner;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// How long the turns of the tenants on one GPU are. The libraries give the turn to the highest waiting priority, and among equals in a
/// circle. So within a priority, shares are proportional to the lengths of turns, and each priority is planned by itself.
///
/// A plan follows from the one before: shares are corrected by what was measured since. The libraries already take an overrun off the next
/// turn. The rest (hand-overs, turns that end early, times that were learnt wrongly) shows as lag.
///
/// @param madeNanos when it was made, by the clock of the planner's caller
/// @param turns     by the id of the tenant
public record Plan(long madeNanos, Map<Long, Turn> turns) {
    /// Where a planner begins.
    public static final Plan NONE = new Plan(0, Map.of());

    public Plan {
        turns = Map.copyOf(turns);
    }

    /// The plan that follows this one. Ids must differ.
    public Plan next(long nowNanos, List<TenantDemand> tenants) {
        Map<Integer, List<TenantDemand>> priorities = tenants.stream()
                .collect(Collectors.groupingBy(TenantDemand::priority, TreeMap::new, Collectors.toList()));
        Map<Long, Turn> next = new LinkedHashMap<>();
        for (List<TenantDemand> equals : priorities.values()) {
            Claims claims = Claims.since(this, nowNanos, equals);
            Lengths lengths = new Lengths(equals, claims);
            for (int at = 0; at < equals.size(); at++) {
                TenantDemand tenant = equals.get(at);
                next.put(tenant.id(), new Turn(lengths.nanos(at), claims.lagNanos(at), tenant));
            }
        }
        return new Plan(nowNanos, next);
    }

    /// Length of a tenant's turns; 0 for a tenant that is not in the plan.
    public long lengthNanos(long id) {
        Turn turn = turns.get(id);
        return turn == null ? 0 : turn.lengthNanos();
    }
}
