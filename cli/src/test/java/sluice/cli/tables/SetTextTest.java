package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.region.LimitsChange;
import sluice.region.limits.Limit;

class SetTextTest {
    @Test
    void shouldSayWhatWasSet() {
        assertThat(SetText.lines(MadeUp.idle(), MadeUp.ended(), new LimitsChange(Map.of(Limit.MEMORY, "1g", Limit.ON_OOM, "fail"))))
                .containsExactly("old: memory 1.0 GiB (was none)", "old: over the quota wait up to 30 s (was fail)");
    }

    @Test
    void shouldSayThatAQuotaBelowTheUseGrantsNothingNew() {
        assertThat(SetText.lines(MadeUp.training(), MadeUp.above(), LimitsChange.of(Limit.MEMORY, "1g"))).containsExactly(
                "train: memory 3.0 GiB (was 0=4.0 GiB, 1=8.0 GiB)",
                "train uses 3.8 GiB on GPU 0 now: nothing new is granted until it is below 3.0 GiB");
    }

    @Test
    void shouldSayWhatChangedOfGpuTime() {
        LimitsChange change = new LimitsChange(Map.of(Limit.COMPUTE, "none", Limit.WEIGHT, "3"));

        assertThat(SetText.lines(MadeUp.training(), MadeUp.sharing(), change)).containsExactly(
                "infer: compute none (was 0=25%)", "infer: turns: weight 3, priority high, each 5 ms (was weight 1, because of its cap)");
    }

    @Test
    void shouldWriteJson() {
        StringWriter text = new StringWriter();
        SetText.writeJson(new PrintWriter(text, true), MadeUp.above());

        assertThat(text.toString()).contains("\"tenant\" : \"train\"").contains("\"usedBytes\" : 4089446400")
                .contains("\"limitBytes\" : 3221225472");
    }
}
