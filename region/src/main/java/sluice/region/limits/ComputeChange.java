package sluice.region.limits;

import java.util.Optional;

/// New limits of GPU time; what is empty stays as it is.
///
/// @param weight     0 = as if none had been given
/// @param turnMicros 0 = the default
public record ComputeChange(
        Optional<CapsChange> caps,
        Optional<Integer> weight,
        Optional<Priority> priority,
        Optional<Boolean> exclusive,
        Optional<Integer> turnMicros) {

    public static final ComputeChange NONE =
            new ComputeChange(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    public boolean isEmpty() {
        return equals(NONE);
    }

    /// Whether it says anything of turns.
    public boolean isOfTurns() {
        return weight.isPresent() || priority.isPresent() || exclusive.isPresent() || turnMicros.isPresent();
    }

    /// Whether it gives something of turns; the default length, or no longer exclusive, takes something back.
    private boolean givesTurns() {
        return weight.isPresent() || priority.isPresent() || exclusive.orElse(false) || turnMicros.orElse(0) > 0;
    }

    /// Who is given anything of turns takes them from then on. Who is given no weight, and has nothing else of turns, does not.
    public ComputeLimits appliedTo(ComputeLimits old) {
        int newWeight = weight.map(given -> Math.max(1, given)).orElse(old.weight());
        Priority newPriority = priority.orElse(old.priority());
        boolean newExclusive = exclusive.orElse(old.exclusive());
        int newTurn = turnMicros.orElse(old.turnMicros());
        boolean usual = newWeight == 1 && newPriority == Priority.NORMAL && !newExclusive && newTurn == 0;
        boolean withdrawn = usual && weight.isPresent() && weight.get() == 0;
        return new ComputeLimits(caps.map(change -> change.appliedTo(old.caps())).orElse(old.caps()),
                !withdrawn && (givesTurns() || old.turns()), newWeight, newPriority, newExclusive, newTurn);
    }
}
