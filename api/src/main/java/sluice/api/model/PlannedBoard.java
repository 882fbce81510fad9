package sluice.api.model;

import java.util.List;

/// How long the turns of the tenants on one GPU are now.
public record PlannedBoard(String uuid, List<Turn> turns) {
    private static final double NOTICEABLE = 0.1;

    public PlannedBoard {
        turns = List.copyOf(turns);
    }

    /// The turns of one tenant.
    public record Turn(long key, String tenant, long lengthNanos) {}

    /// Whether the tenants have changed, or the turns of a tenant have changed by more than a tenth. The agent makes smaller corrections all
    /// the time.
    public boolean differsFrom(PlannedBoard before) {
        if (turns.size() != before.turns.size()) {
            return true;
        }
        for (int at = 0; at < turns.size(); at++) {
            Turn now = turns.get(at);
            Turn then = before.turns.get(at);
            if (now.key() != then.key() || Math.abs(now.lengthNanos() - then.lengthNanos()) > NOTICEABLE * then.lengthNanos()) {
                return true;
            }
        }
        return false;
    }
}
