package sluice.planner;

/// The state of a tenant on one GPU when a plan is made. Times are totals since the tenant began; the planner uses their growth
/// since the last plan.
///
/// @param id          names the tenant from plan to plan
/// @param weight      its part against the weights of others; less than 1 counts as 1
/// @param priority    a higher one goes first
/// @param exclusive   first come, first served
/// @param capPermille at most so many thousandths of the time that passes; 0 = no cap
/// @param turnNanos   length that its turns should have on the average; 0 = the default
/// @param wants       whether it has work for the GPU now
/// @param heldNanos   time in which the turn was its own, the turn under way included
/// @param turns       turns that it was given
/// @param waitedNanos time in which it waited for its turn, a wait under way included
public record TenantDemand(
        long id,
        int weight,
        int priority,
        boolean exclusive,
        int capPermille,
        long turnNanos,
        boolean wants,
        long heldNanos,
        long turns,
        long waitedNanos) {

    /// Length of a turn where nobody asked for another.
    public static final long DEFAULT_TURN_NANOS = 10_000_000;
    /// What a hand-over between processes takes, as measured on an H200. Nobody uses the GPU meanwhile.
    static final long HAND_OVER_NANOS = 150_000;

    private static final int LARGEST_WEIGHT = 1000;
    private static final long SHORTEST_TURN_NANOS = 100_000;
    private static final long LONGEST_TURN_NANOS = 1_000_000_000;

    public TenantDemand {
        weight = Math.clamp(weight, 1, LARGEST_WEIGHT);
        capPermille = Math.clamp(capPermille, 0, 1000);
        turnNanos = turnNanos == 0 ? DEFAULT_TURN_NANOS : Math.clamp(turnNanos, SHORTEST_TURN_NANOS, LONGEST_TURN_NANOS);
    }

    /// The part of the time that passes that it may have.
    double cap() {
        return capPermille == 0 ? 1 : capPermille / 1000.0;
    }

    /// Time since an earlier state that the tenant kept from others. It counts as held even if the tenant left the GPU idle in its turn.
    long takenSince(TenantDemand earlier) {
        return Math.max(0, heldNanos - earlier.heldNanos - (turns - earlier.turns) * HAND_OVER_NANOS);
    }

    long waitedSince(TenantDemand earlier) {
        return Math.max(0, waitedNanos - earlier.waitedNanos);
    }
}
