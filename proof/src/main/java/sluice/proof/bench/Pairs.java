package sluice.proof.bench;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Facts;

/// Nanoseconds per call by the driver's own function and through the library, in blocks that took turns within one process.
///
/// @param without value i was measured next to value i of `with`
@SuppressWarnings("exports")
public record Pairs(List<Double> without, List<Double> with) {

    public Pairs {
        if (without.isEmpty() || without.size() != with.size()) {
            throw new CheckFailed("the blocks are no pairs: " + without.size() + " without and " + with.size() + " with the library");
        }
    }

    public static Pairs of(Facts facts) {
        return new Pairs(values(facts.text("without")), values(facts.text("with")));
    }

    private static List<Double> values(String text) {
        return Arrays.stream(text.split(",")).map(Double::valueOf).toList();
    }

    public List<Double> added() {
        return IntStream.range(0, with.size()).mapToObj(i -> with.get(i) - without.get(i)).toList();
    }

    public double typicalWithout() {
        return Spread.of(without).median();
    }

    public double typicalAdded() {
        return Spread.of(added()).median();
    }
}
