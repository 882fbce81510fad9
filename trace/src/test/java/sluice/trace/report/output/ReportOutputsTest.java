package sluice.trace.report.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;
import sluice.trace.report.MadeUpTraining;
import sluice.trace.report.ReportBuilder;
import sluice.trace.report.ReportBuilderTest;
import sluice.trace.report.ReportData;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

class ReportOutputsTest {
    private static final String HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u0000\u001b[2J\u202e\u2028\ud800";

    private static ReportData training() {
        return ReportBuilderTest.report(MadeUpTraining.steps(60), 77);
    }

    @Test
    void shouldSayTheSameSumsInAllOutputs() {
        ReportData data = training();
        Map<?, ?> json = (Map<?, ?>) json(ReportJson.of(data));
        String text = ReportText.of(data);
        String html = ReportHtml.of(data);
        List<String> functions = cells(text, "Driver calls");
        long calls = 0;
        long nanos = 0;
        for (Object entry : (List<?>) json.get("functions")) {
            Map<?, ?> function = (Map<?, ?>) entry;
            calls += (long) function.get("count");
            nanos += (long) function.get("nanos");
            assertThat(functions).anySatisfy(line -> assertThat(line).contains(ReportUnits.count((long) function.get("count")))
                    .contains(ReportUnits.time((long) function.get("nanos"))).endsWith((String) function.get("name")));
        }
        assertThat(json.get("calls")).isEqualTo(calls);
        assertThat(json.get("call_nanos")).isEqualTo(nanos);
        assertThat(functions.getLast()).contains(ReportUnits.count(calls), ReportUnits.time(nanos)).endsWith("all");
        assertThat(column(html, "Driver calls", 1)).isEqualTo(calls);
        assertThat(column(html, "Driver calls", 3)).isEqualTo(nanos);
        assertThat(column(html, "Kernels", 1)).isEqualTo(json.get("kernel_launches"));
        assertThat(cells(text, "Kernels").getLast()).contains(ReportUnits.count((long) json.get("kernel_launches")));
        assertThat(column(html, "Waits at the gate", 2)).isEqualTo(json.get("waited_nanos"));
        assertThat(column(html, "Copies and fills", 2)).isEqualTo(json.get("copied_bytes"));
        Map<?, ?> gpu = (Map<?, ?>) ((List<?>) json.get("gpus")).getFirst();
        assertThat(column(html, "When the GPU did nothing, and why", 1)).isEqualTo(gpu.get("idle_nanos"));
        assertThat(text).contains("all idle time").contains(ReportUnits.time((long) gpu.get("idle_nanos"))).contains(ReportUnits.time((long) gpu.get("busy_nanos")));
        long inBins = Arrays.stream(((List<?>) ((Map<?, ?>) gpu.get("series")).get("busy_nanos")).toArray()).mapToLong(Long.class::cast).sum();
        assertThat(gpu.get("busy_nanos")).isEqualTo(inBins);
    }

    @Test
    void shouldReferToNothingOutside() {
        String html = ReportHtml.of(training());
        assertThat(html).doesNotContain("http://").doesNotContain("https://").doesNotContain("@import").doesNotContain("url(")
                .doesNotContain("fetch(").doesNotContain("XMLHttpRequest").doesNotContain(" src=");
        Matcher links = Pattern.compile("href=\"([^\"]*)\"").matcher(html);
        while (links.find()) {
            assertThat(links.group(1)).matches("data:,|#timeline");
        }
    }

    @Test
    void shouldAllowOnlyItsOwnScript() throws Exception {
        String html = ReportHtml.of(training());
        String script = html.substring(html.lastIndexOf("<script>") + 8, html.lastIndexOf("</script>"));
        String digest = Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8)));
        assertThat(html).contains("default-src 'none'").contains("script-src 'sha256-" + digest + "'");
    }

    @Test
    void shouldEscapeHostileNames() {
        long at = MadeUpTraining.BEGIN;
        List<TraceEvent> events = List.of(
                new TraceEvent.Kernel(at, at + 1000, 1, 1, 0, HOSTILE, 1, 0, HOSTILE, new TraceEvent.Extent(1, 1, 1), new TraceEvent.Extent(1, 1, 1), 0),
                new TraceEvent.Range(at, at + 2000, 1, 1, HOSTILE, HOSTILE, 0, true),
                new TraceEvent.Mark(at, at, 1, 1, HOSTILE, ""),
                new TraceEvent.Batch(at, at + 500, 1, 1, 0, 1, 500, 0));
        TraceInfo info = new TraceInfo(HOSTILE, List.of(new TraceInfo.Process(1, HOSTILE, 0, HOSTILE, HOSTILE)), List.of(new TraceInfo.ThreadRing(1, 1, HOSTILE, 3, 0)),
                List.of(new TraceInfo.Gpu(0, HOSTILE, HOSTILE, 0, 0)), 3, 0, at, at + 2000, new TraceInfo.Anchor(at, 0));
        ReportBuilder builder = new ReportBuilder(info);
        events.forEach(builder);
        ReportData data = builder.finish();
        String html = ReportHtml.of(data);
        assertThat(html).doesNotContain("<img").doesNotContain("\u001b").doesNotContain("\u202e").doesNotContain("\u0000").contains("&lt;/script&gt;&lt;img");
        assertThat(Pattern.compile("</script").matcher(html).results().count()).isEqualTo(2);
        assertThat(ReportText.of(data)).doesNotContain("\u001b").doesNotContain("\u0000").doesNotContain("\u202e");
        Map<?, ?> json = (Map<?, ?>) json(ReportJson.of(data));
        assertThat(json.get("tenant")).isEqualTo(HOSTILE);
    }

    @Test
    void shouldReportAnEmptyTrace() {
        ReportData data = ReportBuilderTest.report(List.of(), 0);
        assertThat(body(data)).contains("There are no events in this trace.").doesNotContain("NaN").doesNotContain("Infinity");
        assertThat(ReportText.of(data)).contains("There are no events in this trace.");
        assertThat(((Map<?, ?>) json(ReportJson.of(data))).get("events")).isEqualTo(0L);
    }

    @Test
    void shouldSayThatAllWasDropped() {
        ReportData data = ReportBuilderTest.report(List.of(), 5000);
        assertThat(ReportHtml.of(data)).contains("5,000 events of 5,000 (100.0 %) could not be recorded");
        assertThat(ReportText.of(data)).contains("DROPPED: 5,000 events of 5,000");
        assertThat(((Map<?, ?>) json(ReportJson.of(data))).get("dropped")).isEqualTo(5000L);
    }

    @Test
    void shouldReportOneEvent() {
        long at = MadeUpTraining.BEGIN;
        List<TraceEvent> one = List.of(new TraceEvent.Call(at, at, 1, 1, TraceEvent.NO_GPU, "cuInit", 0, 0, 0, TraceEvent.Direction.NONE, -1));
        ReportData data = ReportBuilderTest.report(one, 0);
        assertThat(data.callCount()).isEqualTo(1);
        assertThat(body(data)).contains("cuInit").doesNotContain("NaN").doesNotContain("Infinity");
        assertThat(ReportText.of(data)).contains("cuInit");
        assertThat(((Map<?, ?>) json(ReportJson.of(data))).get("calls")).isEqualTo(1L);
    }

    @Test
    void shouldStaySmall() {
        assertThat(ReportHtml.of(ReportBuilderTest.report(MadeUpTraining.steps(1000), 0)).length()).isLessThan(1_000_000);
    }

    /// The page without its script.
    private static String body(ReportData data) {
        String html = ReportHtml.of(data);
        return html.substring(0, html.lastIndexOf("<script>"));
    }

    /// The lines of a table of the text, without its titles.
    private static List<String> cells(String text, String title) {
        List<String> lines = new ArrayList<>();
        for (String line : text.substring(text.indexOf("\n" + title + "\n") + title.length() + 2).split("\n")) {
            if (line.isEmpty()) {
                break;
            }
            lines.add(line);
        }
        return lines.subList(1, lines.size());
    }

    /// The sum of a column of the section's first table, and that its foot says the same.
    private static long column(String html, String title, int column) {
        String section = html.substring(html.indexOf("<h2>" + title + "</h2>"));
        String body = section.substring(section.indexOf("<tbody>"), section.indexOf("</tbody>"));
        long sum = body.lines().filter(line -> line.startsWith("<tr")).mapToLong(line -> value(line, column)).sum();
        assertThat(value(section.substring(section.indexOf("<tfoot>"), section.indexOf("</tfoot>")), column)).isEqualTo(sum);
        return sum;
    }

    private static long value(String row, int column) {
        Matcher value = Pattern.compile("data-value=\"(\\d+)\"").matcher(row.split("<td")[column + 1]);
        assertThat(value.find()).isTrue();
        return Long.parseLong(value.group(1));
    }

    private static Object json(String text) {
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
            parser.nextToken();
            return tree(parser);
        }
    }

    private static Object tree(JsonParser parser) {
        switch (parser.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    object.put(name, tree(parser));
                }
                return object;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(tree(parser));
                }
                return list;
            }
            case VALUE_NUMBER_INT -> {
                return parser.getLongValue();
            }
            case VALUE_NULL -> {
                return null;
            }
            case VALUE_TRUE, VALUE_FALSE -> {
                return parser.getBooleanValue();
            }
            default -> {
                return parser.getString();
            }
        }
    }
}
