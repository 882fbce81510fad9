package sluice.kubernetes.cluster;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.region.place.SluiceException;

/// Quantities of Kubernetes: `10Gi`, `25`, `1500m`, `2e9`.
public final class Quantity {
    private static final Pattern FORM = Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,19})?)(?:([KMGTPE]i|[numkMGTPE])|[eE]([0-9]{1,2}))?");
    private static final Map<String, Integer> POWERS_OF_TEN = Map.of("n", -9, "u", -6, "m", -3, "k", 3, "M", 6, "G", 9, "T", 12, "P", 15, "E", 18);
    private static final int SHOWN = 60;
    private static final String BINARY = "KMGTPE";

    private Quantity() {}

    /// The whole part, rounded up as Kubernetes does.
    public static long parse(String name, String text) {
        return whole(name, text, exact(name, text).setScale(0, RoundingMode.CEILING));
    }

    /// Refuses what is no whole number.
    public static long parseWhole(String name, String text) {
        BigDecimal number = exact(name, text);
        if (number.stripTrailingZeros().scale() > 0) {
            throw new SluiceException(name + " '" + text + "' is no whole number");
        }
        return whole(name, text, number);
    }

    private static long whole(String name, String text, BigDecimal number) {
        try {
            return number.longValueExact();
        } catch (ArithmeticException e) {
            throw new SluiceException(name + " '" + text + "' is too large", e);
        }
    }

    private static BigDecimal exact(String name, String text) {
        Matcher found = FORM.matcher(text);
        if (!found.matches()) {
            throw new SluiceException(name + " '" + text.substring(0, Math.min(text.length(), SHOWN)) + "' is no quantity; write it like 10Gi or 25");
        }
        BigDecimal number = new BigDecimal(found.group(1));
        String suffix = found.group(2) == null ? "" : found.group(2);
        if (suffix.endsWith("i")) {
            return number.multiply(BigDecimal.valueOf(1024).pow(BINARY.indexOf(suffix.charAt(0)) + 1));
        }
        return number.scaleByPowerOfTen(found.group(3) != null ? Integer.parseInt(found.group(3)) : POWERS_OF_TEN.getOrDefault(suffix, 0));
    }
}
