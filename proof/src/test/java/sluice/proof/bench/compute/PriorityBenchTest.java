package sluice.proof.bench.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.proof.bench.compute.PriorityBench.Outcome;
import sluice.proof.facts.Stamps;

class PriorityBenchTest {
    /// Two bursts of two kernels: 1 µs of work, 2 µs later 1 µs more.
    private final Witness high = witness(new Stamps(new long[] {0, 3_000, 20_000, 23_000}, new long[] {1_000, 4_000, 21_000, 24_000}));

    @Test
    void shouldSeeBurstsThatWereDivided() {
        assertThat(divided(new Stamps(new long[] {1_500, 30_000}, new long[] {2_500, 31_000}))).isEqualTo(0.5);
        assertThat(divided(new Stamps(new long[] {5_000}, new long[] {19_000}))).isZero();
    }

    private double divided(Stamps low) {
        return Outcome.of(high, witness(low)).divided();
    }

    private static Witness witness(Stamps stamps) {
        return new Witness(stamps, Busy.of(stamps), 0, 40_000, 0, List.of(1_000L), 0);
    }
}
