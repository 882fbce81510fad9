package sluice.agent.part;

import java.util.function.LongSupplier;

/// A metric that a part adds to `/metrics`: a counter, whose name ends in `_total`, or a gauge.
///
/// @param help one line
public record PartMetric(String name, String help, LongSupplier value) {
    private static final String COUNTER = "_total";

    public boolean isCounter() {
        return name.endsWith(COUNTER);
    }
}
