package sluice.region.limits;

/// Numbers such as `12.5`, in a unit. Parts smaller than the unit are cut off, as in the native library.
final class Decimal {
    private static final int LONGEST_WHOLE = 9;
    private static final int LONGEST_FRACTION = 9;

    private Decimal() {}

    /// The number times the unit; -1: the text is no number of at least 0, or too large. The unit is at most a billion.
    static long parse(String text, long unit) {
        int point = digits(text, 0);
        if (point == 0) {
            return -1;
        }
        int end = point;
        if (point < text.length() && text.charAt(point) == '.') {
            end = digits(text, point + 1);
            if (end == point + 1) {
                return -1;
            }
        }
        int first = 0;
        while (first < point - 1 && text.charAt(first) == '0') {
            first++;
        }
        return end == text.length() && point - first <= LONGEST_WHOLE
                ? Long.parseLong(text, first, point, 10) * unit + fraction(text, point + 1, end, unit) : -1;
    }

    private static long fraction(String text, int from, int to, long unit) {
        long digits = 0;
        long scale = 1;
        for (int at = from; at < Math.min(to, from + LONGEST_FRACTION); at++) {
            digits = digits * 10 + text.charAt(at) - '0';
            scale *= 10;
        }
        return digits * unit / scale;
    }

    private static int digits(String text, int from) {
        int at = from;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        return at;
    }
}
