package sluice.region.limits;

import java.util.Locale;
import sluice.region.place.SluiceException;

/// How much GPU time a tenant may have.
///
/// @param caps       caps by GPU
/// @param turns      whether it takes turns with others; a tenant with a cap does so anyway
/// @param weight     its part, relative to the weights of other tenants that want the GPU
/// @param turnMicros length of its turns at weight 1; 0 = the default
/// @param strict     whether its caps hold inside a kernel too; without a cap it means nothing
public record ComputeLimits(ComputeCaps caps, boolean turns, int weight, Priority priority, boolean exclusive, int turnMicros, boolean strict) {
    public static final ComputeLimits NONE = new ComputeLimits(ComputeCaps.none(), false, 1, Priority.NORMAL, false, 0);
    private static final int LARGEST_WEIGHT = 1000;
    /// Until [#settled]: the weight was removed.
    private static final int WITHDRAWN = 0;

    /// Of a tenant whose caps are not strict.
    public ComputeLimits(ComputeCaps caps, boolean turns, int weight, Priority priority, boolean exclusive, int turnMicros) {
        this(caps, turns, weight, priority, exclusive, turnMicros, false);
    }

    /// Reads a weight from 1 to 1000.
    public static int parseWeight(String text) {
        String number = text.strip();
        long weight = number.indexOf('.') < 0 ? Decimal.parse(number, 1) : -1;
        if (weight < 1 || weight > LARGEST_WEIGHT) {
            throw new SluiceException("bad weight '" + text + "'; write a whole number from 1 to " + LARGEST_WEIGHT);
        }
        return (int) weight;
    }

    /// Reads `1`, `true`, `yes` or `on`, or their opposites.
    public static boolean parseExclusive(String text) {
        return switch (text.strip().toLowerCase(Locale.ROOT)) {
            case "1", "true", "yes", "on" -> true;
            case "0", "false", "no", "off" -> false;
            default -> throw new SluiceException("bad value '" + text + "'; use true or false");
        };
    }

    ComputeLimits with(ComputeCaps other) {
        return new ComputeLimits(other, turns, weight, priority, exclusive, turnMicros, strict);
    }

    ComputeLimits withWeight(int given) {
        return new ComputeLimits(caps, true, given, priority, exclusive, turnMicros, strict);
    }

    /// The tenant takes no more turns if it has no other limit of turns; [#settled] decides that.
    ComputeLimits withoutWeight() {
        return withWeight(WITHDRAWN);
    }

    ComputeLimits with(Priority given) {
        return new ComputeLimits(caps, true, weight, given, exclusive, turnMicros, strict);
    }

    /// A tenant that is no longer exclusive still takes turns. Setting it to not exclusive gives no turns to a tenant that takes none.
    ComputeLimits withExclusive(boolean given) {
        return new ComputeLimits(caps, turns || given, weight, priority, given, turnMicros, strict);
    }

    /// The default length gives no turns to a tenant that takes none.
    ComputeLimits withTurnMicros(int given) {
        return new ComputeLimits(caps, turns || given > 0, weight, priority, exclusive, given, strict);
    }

    ComputeLimits withStrict(boolean given) {
        return new ComputeLimits(caps, turns, weight, priority, exclusive, turnMicros, given);
    }

    /// Whether strict caps were asked for, but there is no cap.
    boolean lacksCap() {
        return strict && caps.isEmpty();
    }

    /// After all parts of a change: a tenant without caps is not strict either. A tenant whose weight was removed, and that has no other
    /// limit of turns, takes no turns.
    ComputeLimits settled() {
        if (lacksCap()) {
            return withStrict(false).settled();
        }
        if (weight != WITHDRAWN) {
            return this;
        }
        boolean usual = priority == Priority.NORMAL && !exclusive && turnMicros == 0;
        return new ComputeLimits(caps, turns && !usual, 1, priority, exclusive, turnMicros, strict);
    }

    /// Whether the tenant is on boards.
    public boolean takesPart() {
        return turns || !caps.isEmpty();
    }

    /// The length of its turns while there is no plan.
    public long turnNanos() {
        return (turnMicros == 0 ? TurnLength.DEFAULT_MICROS : turnMicros) * 1000L;
    }
}
