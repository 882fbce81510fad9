package sluice.proof.bench.compute;

import java.util.List;
import java.util.Map;

/// A line of a table of results.
///
/// @param cells  the results, one for each column
/// @param target empty: the row has no target
/// @param values the same as numbers, by names of their own; for scripts
public record Row(String name, List<String> cells, String target, boolean met, Map<String, Double> values) {
    public Row(String name, List<String> cells, String target, boolean met) {
        this(name, cells, target, met, Map.of());
    }

    String verdict() {
        return met ? target.isEmpty() ? "" : "met" : "missed";
    }
}
