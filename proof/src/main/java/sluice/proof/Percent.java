package sluice.proof;

import java.util.List;
import java.util.Locale;

/// Shares for people.
final class Percent {
    private Percent() {}

    static String format(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    /// A difference of shares, in percentage points.
    static String points(double difference) {
        return String.format(Locale.ROOT, "%+.1f", difference * 100);
    }

    /// Median (least … greatest).
    static String spread(List<Double> shares) {
        Spread spread = Spread.of(shares);
        return shares.size() == 1
                ? format(spread.median())
                : String.format(Locale.ROOT, "%.1f %% (%.1f … %.1f)", spread.median() * 100, spread.minimum() * 100, spread.maximum() * 100);
    }
}
