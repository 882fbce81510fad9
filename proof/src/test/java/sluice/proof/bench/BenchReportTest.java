package sluice.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.proof.bench.Target.AddedAtMost;
import sluice.proof.bench.Target.RatioAtMost;

class BenchReportTest {
    private final Measurement launch = new Measurement("launch", "no library",
            List.of(3000.0, 3100.0, 2900.0), List.of(3050.0, 3180.0, 2910.0), new AddedAtMost(60));
    private final Measurement start = new Measurement("sluice \"run\"", "java -version",
            List.of(40e6, 41e6), List.of(100e6, 104e6), new RatioAtMost(2));
    private final BenchReport report = new BenchReport("H200", false, "16 threads", 3, List.of(launch, start));

    @Test
    void shouldCompareRepeatByRepeat() {
        assertThat(launch.added()).isEqualTo(new Spread(10, 50, 80));
        assertThat(start.ratio().median()).isBetween(2.5, 2.54);
    }

    @Test
    void shouldJudgeByTheTarget() {
        assertThat(launch.verdict()).isEqualTo(Verdict.MET);
        assertThat(start.verdict()).isEqualTo(Verdict.MISSED);
        assertThat(report.noneMissed()).isFalse();
    }

    @Test
    void shouldNotCallNoiseAMiss() {
        assertThat(Verdict.of(new Spread(10, 70, 90), 60)).isEqualTo(Verdict.UNCLEAR);
        assertThat(Verdict.of(new Spread(61, 70, 90), 60)).isEqualTo(Verdict.MISSED);
    }

    @Test
    void shouldWriteMarkdown() {
        assertThat(report.markdown()).contains(
                "GPU: H200; 16 threads; 3 repeats",
                "| launch | 3000 ns | 3050 ns | +50 ns (+10 ns … +80 ns) | 1.02× | ≤ +60 ns | met |",
                "| 2.52× | ≤ 2.00× | missed |");
    }

    @Test
    void shouldWriteJson() {
        assertThat(report.json()).contains(
                "\"gpu\": \"H200\", \"simulated\": false",
                "\"name\": \"sluice \\\"run\\\"\"",
                "\"addedNanos\": {\"minimum\": 10.000, \"median\": 50.000, \"maximum\": 80.000}",
                "\"verdict\": \"missed\"");
    }

    @Test
    void shouldDrawEachMeasurement() {
        assertThat(report.svg()).startsWith("<svg").endsWith("</svg>\n").contains(">launch<", ">2.52×<");
    }

    @Test
    void shouldTakeTheMeanOfTheTwoInTheMiddle() {
        assertThat(Spread.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Spread(1, 2.5, 4));
        assertThatThrownBy(() -> Spread.of(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldChooseTheUnitThatFits() {
        assertThat(Nanos.format(812.4)).isEqualTo("812 ns");
        assertThat(Nanos.format(12_345)).isEqualTo("12.3 µs");
        assertThat(Nanos.format(123e6)).isEqualTo("123 ms");
        assertThat(Nanos.signed(-4)).isEqualTo("-4 ns");
    }
}
