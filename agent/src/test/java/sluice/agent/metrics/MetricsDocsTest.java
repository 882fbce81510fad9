package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import sluice.agent.AgentService;

/// The tables of docs/metrics.md are made from what is exported.
class MetricsDocsTest {
    private static final Path PAGE = Path.of(System.getProperty("sluice.root")).resolve("docs/metrics.md");

    @Test
    void shouldBeWhatIsExported() throws Exception {
        String page = Files.readString(PAGE);
        String fresh = page;
        List<MetricsSource> own = Metrics.own(new MetricsOfAgent());
        fresh = replaced(fresh, "tenants and GPUs", own.subList(0, 1));
        fresh = replaced(fresh, "tenants", List.of(own.get(1), own.get(4)));
        fresh = replaced(fresh, "GPUs", own.subList(2, 3));
        fresh = replaced(fresh, "agent", List.of(own.get(3), new MetricsOfParts(AgentService.parts().stream().flatMap(part -> part.metrics().stream()).toList())));
        fresh = replaced(fresh, "hami", List.of(Metrics.other("hami", "")));
        fresh = replaced(fresh, "alnair", List.of(Metrics.other("alnair", "")));
        if (Boolean.getBoolean("sluice.refresh")) {
            Files.writeString(PAGE, fresh);
        }
        assertThat(Files.readString(PAGE))
                .withFailMessage("docs/metrics.md is stale; refresh it with: mvn -q -pl agent -am package -Dtest=MetricsDocsTest "
                        + "-Dsurefire.failIfNoSpecifiedTests=false -Dsluice.refresh=true")
                .isEqualTo(fresh);
    }

    private static String replaced(String page, String name, List<MetricsSource> sources) {
        String begin = "<!-- names: " + name + " -->\n";
        String end = "<!-- end -->";
        int from = page.indexOf(begin) + begin.length();
        assertThat(page).contains(begin);
        String table = sources.stream().flatMap(source -> source.families().stream()).map(MetricsDocsTest::line)
                .collect(Collectors.joining("", "| name | type | labels | meaning |\n|---|---|---|---|\n", ""));
        return page.substring(0, from) + table + page.substring(page.indexOf(end, from));
    }

    private static String line(MetricsFamily family) {
        String labels = family.labels().stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
        return "| `%s` | %s | %s | %s |%n".formatted(family.name(), family.kind().name().toLowerCase(Locale.ROOT), labels, family.help());
    }
}
