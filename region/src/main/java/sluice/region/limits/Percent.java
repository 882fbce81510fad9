package sluice.region.limits;

import sluice.region.place.SluiceException;

/// Parts of a GPU's time as people write them: `25%`, `12.5%`. In the region they are thousandths.
/// The native library reads the same syntax; `spec/shares.txt` is the table both are held to.
public final class Percent {
    private static final int ALL_PERMILLE = 1000;
    private static final int PERMILLE = 10;

    private Percent() {}

    /// Reads more than 0 and at most 100 percent, as thousandths.
    public static int parse(String text) {
        String percent = text.strip();
        boolean signed = percent.endsWith("%");
        long permille = Decimal.parse(signed ? percent.substring(0, percent.length() - 1).stripTrailing() : percent, PERMILLE);
        if (permille < 1 || permille > ALL_PERMILLE) {
            throw new SluiceException("bad part of GPU time '" + text + "'; write 0.1% to 100%, as in 25% or 12.5%");
        }
        if (!signed) {
            throw new SluiceException("part of GPU time '" + percent + "' has no unit; write "
                    + (permille <= PERMILLE ? format((int) Decimal.parse(percent, ALL_PERMILLE)) + " or " : "") + percent + "%");
        }
        return (int) permille;
    }

    /// For people: `25%`, `12.5%`.
    public static String format(int permille) {
        return permille / PERMILLE + (permille % PERMILLE == 0 ? "" : "." + permille % PERMILLE) + "%";
    }
}
