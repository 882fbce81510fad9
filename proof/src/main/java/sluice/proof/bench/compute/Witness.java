package sluice.proof.bench.compute;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.facts.Load;
import sluice.proof.facts.Stamps;

/// The GPU's stamps of a load, and its planned begin and end, all by the GPU's clock.
///
/// @param clockOffset added to nanoTime, of any process of the machine, it gives the GPU's clock
/// @param responses   nanoseconds from each burst's begin to its end, as its program saw them
/// @param starvedNanos how long the load had to wait for a processor
@SuppressWarnings("exports")
public record Witness(Stamps stamps, Busy busy, long began, long ended, long clockOffset, List<Long> responses, long starvedNanos) {
    static final long SECOND = 1_000_000_000;

    static Witness read(Load load, Facts facts, Path file) throws IOException {
        Stamps all = Stamps.read(file);
        Expect.that(facts.number("kernels") <= facts.number("places"),
                "there was room for " + facts.number("places") + " stamps, but " + facts.number("kernels") + " kernels ran");
        Stamps stamps = (load.kind().isBracketed() ? all.brackets() : all).sorted();
        List<Long> responses = Arrays.stream(facts.text("responses").split(","))
                .filter(number -> !number.isEmpty()).map(Long::valueOf).toList();
        return new Witness(stamps, Busy.of(stamps), facts.number("began"), facts.number("ended"),
                facts.number("offset"), responses, facts.number("starved"));
    }

    /// The share over everything after the first second, or after the first half of a load shorter than two.
    public double share() {
        return busy.share(settled(), ended);
    }

    /// The share in each second after the first.
    List<Double> seconds() {
        return busy.windows(settled(), ended, SECOND);
    }

    /// The part of the time in which the load wanted a processor and had none.
    public double starved() {
        return ended > began ? (double) starvedNanos / (ended - began) : 0;
    }

    public long settled() {
        return Math.min(began + SECOND, began + (ended - began) / 2);
    }
}
