package sluice.cli.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.cli.output.JsonValues;
import sluice.cli.tables.MadeUp;
import sluice.proof.bench.Standstill;
import sluice.proof.checks.Result;
import sluice.proof.checks.Result.Outcome;

class VerifyTextTest {
    private static Result result(String group, Outcome outcome) {
        return new Result(group, "it holds", outcome, "seen", Duration.ofMillis(1500));
    }

    @Test
    void shouldNameEachGroupOnce() {
        VerifyText text = new VerifyText(List.of(), MadeUp.PLAIN);

        assertThat(text.lines(result("quota", Outcome.PASSED))).containsExactly("quota", "  ok    it holds  seen");
        assertThat(text.lines(result("quota", Outcome.FAILED))).containsExactly("  FAIL  it holds  seen");
        assertThat(text.lines(result("charge", Outcome.SKIPPED))).containsExactly("charge", "  skip  it holds  seen");
    }

    @Test
    void shouldCountWhatHolds() {
        VerifyText text = new VerifyText(List.of(), MadeUp.PLAIN);

        assertThat(text.summary(List.of(result("a", Outcome.PASSED), result("a", Outcome.SKIPPED))))
                .isEqualTo("1 hold, 0 fail, 1 skipped, in 3 s");
    }

    @Test
    void shouldBlameAMachineThatStandsStill() {
        assertThat(VerifyText.blame(new Standstill(7, 6_000_000))).contains("This machine stands still 7.0 times a second for 0.3 ms or more, "
                + "the longest 6.0 ms: checks that measure time may fail because of that.");
        assertThat(VerifyText.blame(new Standstill(0.3, 1_000_000))).isEmpty();
    }

    @Test
    void shouldWriteResultsOfChecks() {
        List<Result> results = List.of(new Result("quota", "holds", Result.Outcome.PASSED, "1 GiB", Duration.ofMillis(12)));

        assertThat(JsonValues.of(out -> VerifyText.writeJson(out, true, results)))
                .contains("/simulated=true", "/checks/0/outcome=passed", "/checks/0/millis=12");
    }
}
