package sluice.cli.run;

import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

/// What the command line of `sluice run` says of GPU time; null is nothing. Who says anything of turns takes them.
final class ComputeSettings {
    ComputeCaps caps;
    Integer weight;
    Priority priority;
    Boolean exclusive;
    Integer turnMicros;

    /// Reads an option with its value; false when it is none of these, or was there before.
    boolean read(String option, String value) {
        if (option.equals("--compute") && caps == null) {
            caps = ComputeCaps.parse(value);
        } else if (option.equals("--weight") && weight == null) {
            weight = ComputeLimits.parseWeight(value);
        } else if (option.equals("--priority") && priority == null) {
            priority = Priority.parse(value);
        } else if (option.equals("--turn") && turnMicros == null) {
            turnMicros = TurnLength.parse(value);
        } else {
            return false;
        }
        return true;
    }

    ComputeLimits limits() {
        if (caps == null && weight == null && priority == null && exclusive == null && turnMicros == null) {
            return ComputeLimits.NONE;
        }
        return new ComputeLimits(caps == null ? ComputeCaps.none() : caps,
                weight != null || priority != null || exclusive != null || turnMicros != null,
                weight == null ? 1 : weight, priority == null ? Priority.NORMAL : priority,
                exclusive != null && exclusive, turnMicros == null ? 0 : turnMicros);
    }
}
