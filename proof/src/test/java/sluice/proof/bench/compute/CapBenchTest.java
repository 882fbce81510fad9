package sluice.proof.bench.compute;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.proof.bench.Spread;

class CapBenchTest {

    private static Spread between(double least, double most) {
        return new Spread(least, (least + most) / 2, most);
    }

    @ParameterizedTest(name = "{6}")
    @CsvSource({
        "0.99, 0.496, 0.504, 0.485, 0.515, true, near the cap",
        "0.99, 0.485, 0.500, 0.485, 0.500, false, a run more than a point below it",
        "0.99, 0.496, 0.512, 0.496, 0.512, false, a run more than a point above it",
        "0.99, 0.496, 0.504, 0.470, 0.504, false, a second more than two points below it",
        "0.99, 0.496, 0.504, 0.496, 0.525, false, a second more than two points above it",
        "0.45, 0.440, 0.460, 0.420, 0.470, true, a load that does not reach it",
        "0.45, 0.430, 0.460, 0.430, 0.460, false, one that gets less than it gets alone",
        "0.45, 0.440, 0.530, 0.440, 0.530, false, one that exceeds it all the same",
    })
    void shouldJudgeShares(double alone, double least, double most, double leastSecond, double mostSecond, boolean met, String what) {
        assertThat(CapBench.holds(0.50, alone, between(least, most), between(leastSecond, mostSecond), Bounds.REAL)).as(what).isEqualTo(met);
    }
}
