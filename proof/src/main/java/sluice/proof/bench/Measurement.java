package sluice.proof.bench;

import java.util.List;
import java.util.stream.IntStream;

/// One thing measured side by side, in nanoseconds, one value for each repeat; value i of both was taken next to each other.
///
/// @param baseline what `without` stands for
public record Measurement(String name, String baseline, List<Double> without, List<Double> with, Target target) {

    /// What Sluice adds, repeat by repeat.
    public Spread added() {
        return Spread.of(IntStream.range(0, with.size()).mapToObj(i -> with.get(i) - without.get(i)).toList());
    }

    public Spread ratio() {
        return Spread.of(IntStream.range(0, with.size()).mapToObj(i -> with.get(i) / without.get(i)).toList());
    }

    public Verdict verdict() {
        return target.verdict(this);
    }
}
