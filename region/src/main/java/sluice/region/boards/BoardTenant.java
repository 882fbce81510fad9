package sluice.region.boards;

import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

/// A tenant on a board.
///
/// @param entry        its number there
/// @param key          creation time of its region
/// @param planNanos    length of its turns by the plan; 0 = no plan
/// @param balanceNanos negative: the next turn is shortened by this, to repay an overrun; positive: it is lengthened, because an earlier
///                     turn was cut short or taken away
/// @param heldNanos    time in which the turn was its own, the turn under way included
/// @param turns        turns that it was given
/// @param holds        whether the turn is its own now
/// @param busy         whether its work keeps the GPU busy now
/// @param waitingNanos how long it has been waiting for its turn; 0 = it does not wait
/// @param processes    the live ones
public record BoardTenant(
        int entry,
        long key,
        String name,
        int weight,
        Priority priority,
        boolean exclusive,
        long turnMicros,
        long planNanos,
        long balanceNanos,
        long heldNanos,
        long turns,
        boolean holds,
        boolean busy,
        long waitingNanos,
        int processes) {

    /// How long its turns are.
    public long lengthNanos() {
        long turn = turnMicros == 0 ? TurnLength.DEFAULT_MICROS : turnMicros;
        return planNanos == 0 ? turn * 1000 * Math.max(1, weight) : planNanos;
    }

    public boolean wants() {
        return waitingNanos > 0 || holds && busy;
    }
}
