package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// The dashboard and the alert rules ask only for what is exported.
class MetricsDeployTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.root"));
    /// What Prometheus itself adds.
    private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");
    private static final Pattern SHOWN = Pattern.compile("\\{\\{\\s*(?:\\$labels\\.)?(\\w+)\\s*}}");

    private final Map<String, MetricsFamily> families = Metrics.own(new MetricsOfAgent()).stream().flatMap(source -> source.families().stream())
            .collect(Collectors.toMap(MetricsFamily::name, Function.identity()));

    @Test
    void shouldDrawOnlyWhatIsExported() throws Exception {
        String dashboard = Files.readString(ROOT.resolve("deploy/grafana/sluice.json"));
        List<String> queries = strings(dashboard, "expr");

        assertThat(queries).hasSizeGreaterThan(15).allSatisfy(this::check);
        assertThat(strings(dashboard, "definition")).isNotEmpty().allSatisfy(text -> {
            Matcher matcher = LABEL_VALUES.matcher(text);
            assertThat(matcher.matches()).isTrue();
            assertThat(families).containsKey(matcher.group(1));
            assertThat(families.get(matcher.group(1)).labels()).contains(matcher.group(2));
        });
        assertThat(strings(dashboard, "legendFormat")).hasSameSizeAs(queries);
        Set<String> all = families.values().stream().flatMap(family -> family.labels().stream()).collect(Collectors.toSet());
        assertThat(strings(dashboard, "legendFormat")).allSatisfy(legend -> assertThat(all).containsAll(shown(legend)));
    }

    @Test
    void shouldAlertOnlyOnWhatIsExported() throws Exception {
        List<String> lines = Files.readAllLines(ROOT.resolve("deploy/prometheus/alerts.yaml"));
        int rules = 0;
        Set<String> labels = Set.of();
        for (int at = 0; at < lines.size(); at++) {
            String line = lines.get(at).strip();
            if (line.startsWith("expr:")) {
                rules++;
                labels = check(expression(lines, at));
            } else if (line.startsWith("summary:") || line.startsWith("description:")) {
                assertThat(labels).as(line).containsAll(shown(line));
            }
        }
        assertThat(rules).isEqualTo((int) lines.stream().filter(line -> line.contains("- alert:")).count()).isGreaterThan(10);
    }

    /// An expression stands on its line, or after `>-` on deeper ones.
    private static String expression(List<String> lines, int at) {
        String first = lines.get(at).strip().substring("expr:".length()).strip();
        if (!first.equals(">-")) {
            return first;
        }
        int depth = lines.get(at).indexOf("expr:");
        StringBuilder text = new StringBuilder();
        for (int next = at + 1; lines.get(next).indexOf(lines.get(next).strip()) > depth; next++) {
            text.append(lines.get(next).strip()).append(' ');
        }
        return text.toString();
    }

    /// @return the labels that the result may have
    private Set<String> check(String text) {
        MetricsQuery query = MetricsQuery.of(text);
        Set<String> labels = new HashSet<>(OF_PROMETHEUS);
        assertThat(query.metrics()).as(text).isNotEmpty();
        for (String metric : query.metrics()) {
            if (!metric.equals("up")) {
                assertThat(families).as(text).containsKey(metric);
                labels.addAll(families.get(metric).labels());
            }
        }
        assertThat(labels).as(text).containsAll(query.labels());
        return labels;
    }

    private static List<String> shown(String text) {
        return SHOWN.matcher(text).results().map(result -> result.group(1)).filter(name -> !name.equals("value")).toList();
    }

    private static List<String> strings(String json, String field) throws IOException {
        List<String> found = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), json)) {
            while (parser.nextToken() != null) {
                if (parser.currentToken() == JsonToken.VALUE_STRING && field.equals(parser.currentName())) {
                    found.add(parser.getString());
                }
            }
        }
        return found;
    }
}
