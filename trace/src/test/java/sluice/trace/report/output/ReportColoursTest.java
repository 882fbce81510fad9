package sluice.trace.report.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sluice.trace.read.TraceEvent;
import sluice.trace.report.ReportCause;
import sluice.trace.report.ReportKind;

class ReportColoursTest {
    private static final List<String> WORK = List.of("busy", "launch", "copy", "async", "dry", "held");

    /// By theme: light first.
    private static List<Map<String, String>> themes() throws IOException {
        String css;
        try (InputStream file = ReportHtml.class.getResourceAsStream("report.css")) {
            css = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<Map<String, String>> themes = new ArrayList<>();
        for (String theme : css.split("@media \\(prefers-color-scheme: dark\\)", 2)) {
            Map<String, String> colours = new HashMap<>();
            Matcher matcher = Pattern.compile("--([a-z-]+): (#[0-9a-f]{6});").matcher(theme);
            while (matcher.find()) {
                colours.putIfAbsent(matcher.group(1), matcher.group(2));
            }
            themes.add(colours);
        }
        return themes;
    }

    @Test
    void shouldDrawNoWaitInTheColourOfWork() throws IOException {
        for (Map<String, String> colours : themes()) {
            List<String> work = WORK.stream().map(colours::get).toList();
            assertThat(work).doesNotContainNull();
            for (TraceEvent.Reason reason : TraceEvent.Reason.values()) {
                assertThat(colours.get(ReportKind.of(reason).word())).as(reason.text()).isNotNull().isNotIn(work);
            }
        }
    }

    @Test
    void shouldGiveEachWaitAColourOfItsOwn() throws IOException {
        List<TraceEvent.Reason> reasons = List.of(TraceEvent.Reason.CAP, TraceEvent.Reason.TURN, TraceEvent.Reason.LOCK, TraceEvent.Reason.FLIGHT, TraceEvent.Reason.MEMORY);
        for (Map<String, String> colours : themes()) {
            assertThat(reasons.stream().map(reason -> colours.get(ReportKind.of(reason).word()))).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldHaveAColourForEveryWord() throws IOException {
        for (Map<String, String> colours : themes()) {
            for (ReportKind kind : ReportKind.values()) {
                assertThat(colours).containsKey(kind.word());
            }
            for (ReportCause cause : ReportCause.values()) {
                assertThat(colours).containsKey(cause.word());
            }
        }
    }
}
