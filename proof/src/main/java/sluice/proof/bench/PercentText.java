package sluice.proof.bench;

import java.util.List;
import java.util.Locale;

/// Shares for people.
public final class PercentText {
    private PercentText() {}

    public static String format(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    /// A difference of shares, in percentage points.
    public static String points(double difference) {
        return String.format(Locale.ROOT, "%+.1f", difference * 100);
    }

    /// Median (least … greatest).
    public static String spread(List<Double> shares) {
        Spread spread = Spread.of(shares);
        return shares.size() == 1
                ? format(spread.median())
                : String.format(Locale.ROOT, "%.1f %% (%.1f … %.1f)", spread.median() * 100, spread.minimum() * 100, spread.maximum() * 100);
    }
}
