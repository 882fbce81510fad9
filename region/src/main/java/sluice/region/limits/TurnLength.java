package sluice.region.limits;

import sluice.region.place.SluiceException;

/// Lengths of turns as people write them: `500us`, `5ms`, `0.25s`. In the region they are microseconds; 0 is the default.
/// The native library reads the same syntax; `spec/shares.txt` is the table both are held to.
public final class TurnLength {
    /// What 0 stands for.
    public static final int DEFAULT_MICROS = 10_000;
    private static final int SHORTEST_MICROS = 100;
    private static final int LONGEST_MICROS = 1_000_000;

    private TurnLength() {}

    /// Reads a length of 100 µs to 1 s.
    public static int parse(String text) {
        String length = text.strip();
        int unit = length.endsWith("us") ? 1 : length.endsWith("ms") ? 1000 : length.endsWith("s") ? 1_000_000 : 0;
        int letters = unit == 1_000_000 ? 1 : 2;
        long micros = unit == 0 ? -1 : Decimal.parse(length.substring(0, length.length() - letters).stripTrailing(), unit);
        if (micros < SHORTEST_MICROS || micros > LONGEST_MICROS) {
            throw new SluiceException("bad length of a turn '" + text + "'; write 100us to 1s, as in 5ms");
        }
        return (int) micros;
    }

    /// For people: `5 ms`, `1.5 ms`, `500 us`, `default (10 ms)`.
    public static String format(long micros) {
        if (micros == 0) {
            return "default (" + format(DEFAULT_MICROS) + ")";
        }
        long unit = micros < 1000 ? 1 : micros < 1_000_000 ? 1000 : 1_000_000;
        String number = Double.toString((double) micros / unit);
        return (number.endsWith(".0") ? number.substring(0, number.length() - 2) : number)
                + (unit == 1 ? " us" : unit == 1000 ? " ms" : " s");
    }
}
