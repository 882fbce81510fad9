package sluice.region.limits;

import sluice.region.place.SluiceException;

/// What an allocation over the quota does: it is refused at once, or it waits for a sibling to free memory.
///
/// @param waitMillis how long it waits at most; 0: it does not wait
public record OnOom(int waitMillis) {
    public static final OnOom FAIL = new OnOom(0);
    /// The time of `wait` without a time.
    public static final OnOom WAIT = new OnOom(60_000);
    private static final int LONGEST_MILLIS = 3_600_000;

    /// Reads `fail`, `wait`, or `wait:30s`; units are ms, s and m.
    public static OnOom parse(String text) {
        return switch (text) {
            case "fail" -> FAIL;
            case "wait" -> WAIT;
            default -> new OnOom(text.startsWith("wait:") ? millis(text.substring(5), text) : bad(text));
        };
    }

    private static int millis(String duration, String text) {
        int digits = 0;
        while (digits < duration.length() && duration.charAt(digits) >= '0' && duration.charAt(digits) <= '9') {
            digits++;
        }
        int unit = switch (duration.substring(digits)) {
            case "ms" -> 1;
            case "s" -> 1000;
            case "m" -> 60_000;
            default -> 0;
        };
        if (digits == 0 || digits > 7 || unit == 0) {
            return bad(text);
        }
        long millis = Long.parseLong(duration.substring(0, digits)) * unit;
        return millis < 1 || millis > LONGEST_MILLIS ? bad(text) : (int) millis;
    }

    private static int bad(String text) {
        throw new SluiceException("bad value '" + text + "'; use fail, wait, or wait with a time of at most an hour, as in wait:30s");
    }

    public static OnOom of(long waits, long waitMillis) {
        return waits == 0 ? FAIL : new OnOom((int) Math.min(waitMillis, LONGEST_MILLIS));
    }

    public boolean waits() {
        return waitMillis > 0;
    }

    /// For people: `fail` or `wait up to 30 s`.
    @Override
    public String toString() {
        if (!waits()) {
            return "fail";
        }
        return "wait up to " + (waitMillis % 1000 == 0 ? waitMillis / 1000 + " s" : waitMillis + " ms");
    }
}
