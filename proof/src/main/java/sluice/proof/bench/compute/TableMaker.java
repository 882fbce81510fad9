package sluice.proof.bench.compute;

import java.util.List;
import java.util.Map;

/// Plans the runs of one table, and judges the results so far.
public interface TableMaker {
    /// In their order; the repeats of different rows in turns.
    List<Step> steps();

    ResultTable table();

    default Map<String, String> plots() {
        return Map.of();
    }
}
