package sluice.trace.report.output;

import java.util.Locale;

/// Numbers as the page and the text write them, so that both say the same.
final class ReportUnits {
    static final String UNKNOWN = "–";
    private static final String[] UNITS = {"ns", "µs", "ms", "s"};
    private static final long MINUTE = 60_000_000_000L;

    private ReportUnits() {}

    /// A span of time in three digits: `840 ns`, `12.3 µs`, `1.24 ms`, `3.21 s`, `5 min 03 s`.
    static String time(long nanos) {
        if (nanos >= 100 * (MINUTE / 60)) {
            long seconds = Math.round(nanos / 1e9);
            return seconds / 60 + " min " + String.format(Locale.ROOT, "%02d", seconds % 60) + " s";
        }
        int unit = 0;
        double value = nanos;
        while (unit < 3 && value >= 999.5) {
            value /= 1000;
            unit++;
        }
        return (unit == 0 ? Long.toString(nanos) : threeDigits(value)) + " " + UNITS[unit];
    }

    private static String threeDigits(double value) {
        return String.format(Locale.ROOT, value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
    }

    static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /// A part of a whole: `62.4 %`.
    static String part(long part, long whole) {
        return whole == 0 ? UNKNOWN : String.format(Locale.ROOT, "%.1f %%", 100.0 * part / whole);
    }

    static String permille(int permille) {
        return permille % 10 == 0 ? permille / 10 + " %" : String.format(Locale.ROOT, "%.1f %%", permille / 10.0);
    }

    /// `1 call`, `2 calls`.
    static String some(long number, String thing) {
        return count(number) + " " + (number == 1 ? thing : thing + "s");
    }

    /// Text that a tenant chose, without characters that control a terminal or the direction of text.
    static String visible(String text) {
        StringBuilder visible = new StringBuilder(text.length());
        text.codePoints().forEach(c -> visible.appendCodePoint(
                Character.isISOControl(c) || Character.getType(c) == Character.FORMAT || Character.getType(c) == Character.SURROGATE
                        || c == 0x2028 || c == 0x2029 ? '?' : c));
        return visible.toString();
    }

    static String cut(String text, int width) {
        int length = text.codePointCount(0, text.length());
        return length <= width ? text : text.substring(0, text.offsetByCodePoints(0, width - 1)) + "…";
    }
}
