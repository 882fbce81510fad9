package sluice.proof.bench;

import java.util.Locale;

/// Times for people, in the unit that fits.
public final class Nanos {
    private Nanos() {}

    public static String format(double nanos) {
        double size = Math.abs(nanos);
        if (size < 1e4) {
            return String.format(Locale.ROOT, "%.0f ns", nanos);
        }
        return size < 1e7
                ? String.format(Locale.ROOT, "%.1f µs", nanos / 1e3)
                : String.format(Locale.ROOT, "%.0f ms", nanos / 1e6);
    }

    public static String signed(double nanos) {
        return (nanos >= 0 ? "+" : "") + format(nanos);
    }
}
