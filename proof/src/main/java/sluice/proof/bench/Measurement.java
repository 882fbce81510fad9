package sluice.proof.bench;

import java.util.List;
import java.util.stream.IntStream;

/// One quantity, measured with and without Sluice, in nanoseconds. One value for each repeat; both values i were taken one after the other.
///
/// @param baseline the meaning of `without`
public record Measurement(String name, String baseline, List<Double> without, List<Double> with, Target target) {

    /// The cost that Sluice adds, repeat by repeat.
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
