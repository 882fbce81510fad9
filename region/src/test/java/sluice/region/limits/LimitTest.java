package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.region.place.SluiceException;

/// What holds for every limit of the table, and the pages that are made from it.
class LimitTest {
    private static final Path DOCS = Path.of(System.getProperty("sluice.root"), "docs");
    private static final String BEGIN = "<!-- limits -->\n";
    private static final String END = "<!-- end -->";

    /// A value that is not the default.
    private static String example(Limit limit) {
        return switch (limit.kind()) {
            case SIZE, BYTES -> "3g";
            case PART -> "25%";
            case NUMBER -> "7";
            case WORD -> limit == Limit.ON_ERROR ? "run" : limit.choices().getFirst();
            case SWITCH -> "true";
            case TIME -> "5ms";
            case WAIT -> "wait:30s";
        };
    }

    /// With what the limit needs beside it.
    private static Map<Limit, String> words(Limit limit) {
        return limit == Limit.STRICT ? Map.of(Limit.COMPUTE, "50%", limit, example(limit)) : Map.of(limit, example(limit));
    }

    @ParameterizedTest
    @EnumSource
    void shouldMeanTheSameForAJobThatBeginsAndForOneThatRuns(Limit limit) {
        Limits given = GivenLimits.of(LimitSource.COMMAND_LINE, words(limit)).limits();
        assertThat(limit.format(given)).isNotEqualTo(limit.format(Limits.NONE));
        assertThat(Limits.NONE.changed(words(limit))).isEqualTo(given);
    }

    @ParameterizedTest
    @EnumSource
    void shouldChangeNothingElse(Limit limit) {
        Limits given = Limits.NONE.changed(words(limit));
        for (Limit other : Limit.values()) {
            if (!words(limit).containsKey(other) && !(limit.isOfTurns() && other == Limit.WEIGHT)) {
                assertThat(other.format(given)).as(other.word()).isEqualTo(other.format(Limits.NONE));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveWhatIsAskedForWhereThePolicySaysTheSame(Limit limit) {
        GivenLimits given = GivenLimits.of(LimitSource.POLICY, Map.of(limit, example(limit)));
        assertThat(given.missing(given.within(given))).isEmpty();
        assertThat(given.missing(given.within(GivenLimits.none(LimitSource.POLICY)))).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeItsChoicesAndRefuseNonsense(Limit limit) {
        limit.choices().forEach(choice -> limit.check(choice, limit.isChangeable()));
        assertThatThrownBy(() -> limit.check("nonsense", false)).isInstanceOf(SluiceException.class).hasMessageContaining("; ");
    }

    @Test
    void shouldHaveNamesOfItsOwn() {
        assertThat(List.of(Limit.values())).extracting(Limit::word).doesNotHaveDuplicates();
        assertThat(Limit.changeable()).extracting(Limit::key).doesNotHaveDuplicates().doesNotContain(' ');
        assertThat(List.of(Limit.values())).extracting(Limit::field).doesNotHaveDuplicates();
        assertThat(Limit.ON_OOM.variable()).isEqualTo("SLUICE_ON_OOM");
    }

    @Test
    void shouldBeOnThePageOfLimits() throws Exception {
        Path page = DOCS.resolve("limits.md");
        String text = Files.readString(page);
        assertThat(text).contains(BEGIN, END);
        int from = text.indexOf(BEGIN) + BEGIN.length();
        String fresh = text.substring(0, from) + table() + text.substring(text.indexOf(END, from));
        if (Boolean.getBoolean("sluice.refresh")) {
            Files.writeString(page, fresh);
        }
        assertThat(Files.readString(page))
                .withFailMessage("docs/limits.md is stale; refresh it with: mvn -q -pl region -am package -Dtest=LimitTest "
                        + "-Dsurefire.failIfNoSpecifiedTests=false -Dsluice.refresh=true")
                .isEqualTo(fresh);
    }

    private static String table() {
        return Stream.of(Limit.values()).map(limit -> "| `%s` | `%s` | %s | %s | %s |%n".formatted(limit.option(), limit.variable(),
                        limit.parameter().replace("|", ", "), limit.runHelp(), limit.isChangeable() ? limit.examples() : "–"))
                .collect(Collectors.joining("", "| option | variable | value | what it does | while the job runs |\n|---|---|---|---|---|\n", ""));
    }

    /// Pages that say more about some of them.
    @Test
    void shouldBeNamedWherePeopleLookForIt() throws Exception {
        String compute = Files.readString(DOCS.resolve("compute.md"));
        String agent = Files.readString(DOCS.resolve("agent.md"));
        for (Limit limit : Limit.values()) {
            assertThat(agent).as("words of a policy").contains("`" + limit.word() + "`");
            if (limit.isOfGpuTime()) {
                assertThat(compute.lines().filter(line -> line.contains("`" + limit.variable() + "`"))).as(limit.word())
                        .anyMatch(line -> line.contains("`" + limit.option()));
            }
        }
    }
}
