package sluice.proof.bench.compute;

import java.util.List;
import java.util.Map;

/// Says what is to be run for one table, and judges what was found so far.
public interface TableMaker {
    /// In their order; the repeats of different rows in turns.
    List<Step> steps();

    ResultTable table();

    default Map<String, String> plots() {
        return Map.of();
    }
}
