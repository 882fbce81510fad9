package sluice.region.limits;

import sluice.region.place.SluiceException;

/// Sizes of memory as people write them: `512m`, `1.5g`, `2Gi`, `4GB`, `4096b`. A unit is always there, and a power of 1024.
/// The native library reads the same syntax; `spec/sizes.txt` is the table both are held to.
public final class Size {
    private static final String EXAMPLES = "; write it like 512m, 1.5g, 2Gi or 4GB";
    private static final String UNITS = "kmgt";

    private Size() {}

    /// Reads a size of at least one byte.
    public static long parse(String text) {
        String size = text.strip();
        int point = digits(size, 0);
        int end = point;
        if (point > 0 && point < size.length() && size.charAt(point) == '.') {
            end = digits(size, point + 1);
            if (end == point + 1) {
                throw bad(text);
            }
        }
        String suffix = size.substring(end).strip();
        int unit = unit(suffix);
        if (point == 0 || unit < 0) {
            throw bad(text);
        }
        long bytes = whole(size, point, unit, text) + fraction(size, point, end, unit);
        if (bytes < 0) {
            throw new SluiceException("size '" + text + "' is too large" + EXAMPLES);
        }
        if (bytes == 0) {
            throw new SluiceException("size '" + text + "' is less than a byte" + EXAMPLES);
        }
        if (suffix.isEmpty()) {
            throw new SluiceException("size '" + size + "' has no unit; write " + size + "g, " + size + "m or, for bytes, " + size + "b");
        }
        return bytes;
    }

    private static int digits(String size, int from) {
        int at = from;
        while (at < size.length() && size.charAt(at) >= '0' && size.charAt(at) <= '9') {
            at++;
        }
        return at;
    }

    /// The power of 1024 that a suffix stands for, or -1.
    private static int unit(String suffix) {
        if (suffix.isEmpty()) {
            return 0;
        }
        int power = UNITS.indexOf(Character.toLowerCase(suffix.charAt(0))) + 1;
        String rest = power == 0 ? suffix : suffix.substring(1);
        boolean known = rest.equalsIgnoreCase("b")
                || power > 0 && (rest.isEmpty() || rest.equalsIgnoreCase("i") || rest.equalsIgnoreCase("ib"));
        return known ? power : -1;
    }

    private static long whole(String size, int point, int unit, String text) {
        try {
            return Math.multiplyExact(Long.parseLong(size, 0, point, 10), 1L << 10 * unit);
        } catch (ArithmeticException | NumberFormatException e) {
            throw new SluiceException("size '" + text + "' is too large" + EXAMPLES, e);
        }
    }

    private static long fraction(String size, int point, int end, int unit) {
        return end == point ? 0 : (long) (Double.parseDouble("0" + size.substring(point, end)) * (1L << 10 * unit));
    }

    private static SluiceException bad(String text) {
        return new SluiceException("bad size '" + text + "'" + EXAMPLES);
    }

    /// A size for people: `512 B`, `4.0 GiB`.
    public static String format(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        int power = (63 - Long.numberOfLeadingZeros(bytes)) / 10;
        long tenths = tenths(bytes, power);
        if (tenths >= 10240 && power < 6) {
            power++;
            tenths = 10;
        }
        return tenths / 10 + "." + tenths % 10 + " " + "KMGTPE".charAt(power - 1) + "iB";
    }

    private static long tenths(long bytes, int power) {
        long unit = 1L << 10 * power;
        return bytes / unit * 10 + Math.round((bytes % unit) * 10.0 / unit);
    }
}
