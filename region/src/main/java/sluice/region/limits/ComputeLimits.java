package sluice.region.limits;

import java.util.Locale;
import sluice.region.layout.LimitsView;
import sluice.region.place.SluiceException;

/// What a tenant may have of the time of GPUs.
///
/// @param caps       caps by GPU
/// @param turns      whether it takes turns with others; a tenant with a cap does so anyway
/// @param weight     its part against the weights of others who want the GPU
/// @param turnMicros length of its turns at weight 1; 0 = the default
public record ComputeLimits(ComputeCaps caps, boolean turns, int weight, Priority priority, boolean exclusive, int turnMicros) {
    public static final ComputeLimits NONE = new ComputeLimits(ComputeCaps.none(), false, 1, Priority.NORMAL, false, 0);
    private static final int LARGEST_WEIGHT = 1000;

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

    public static ComputeLimits of(LimitsView limits) {
        int[] caps = new int[MemoryLimits.GPUS];
        for (int gpu = 0; gpu < caps.length; gpu++) {
            caps[gpu] = (int) limits.computePermille(gpu);
        }
        return new ComputeLimits(ComputeCaps.of(caps), limits.turns() != 0, (int) Math.max(1, limits.weight()),
                Priority.of(limits.priority()), limits.exclusive() != 0, (int) limits.turnMicros());
    }

    public void write(LimitsView limits) {
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            limits.computePermille(gpu, caps.permille(gpu));
        }
        limits.weight(weight);
        limits.priority(priority.value());
        limits.exclusive(exclusive ? 1 : 0);
        limits.turnMicros(turnMicros);
        limits.turns(turns ? 1 : 0);
    }

    /// Whether it is on boards at all.
    public boolean takesPart() {
        return turns || !caps.isEmpty();
    }

    /// The length of its turns while there is no plan.
    public long turnNanos() {
        return (turnMicros == 0 ? TurnLength.DEFAULT_MICROS : turnMicros) * 1000L;
    }
}
