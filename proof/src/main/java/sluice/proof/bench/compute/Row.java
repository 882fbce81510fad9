package sluice.proof.bench.compute;

import java.util.List;

/// A line of a table of results.
///
/// @param cells what was found, one for each column
public record Row(String name, List<String> cells, String target, boolean met) {
    String verdict() {
        return met ? "met" : "missed";
    }
}
