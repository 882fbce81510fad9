package sluice.it.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The pages that a newcomer reads first stay short, and every file and folder that they name exists.
class FirstPagesTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)");
    /// `a/…/B.java` is any B.java somewhere below a; a name without a folder is a file anywhere.
    private static final Pattern NAMED = Pattern.compile("`(?!/)([\\w.…-]+/[\\w./…-]*|[\\w-]+\\.(?:c|h|java|abi|api|txt|md))`");
    private static final Pattern QUESTION = Pattern.compile("^\\| (?:Where|What|Who|Which|How) [^|]*\\? \\| .*`.*\\|$", Pattern.MULTILINE);

    private static List<String> lost(String page) throws IOException {
        String paths;
        try (Stream<Path> all = Files.walk(ROOT)) {
            paths = all.map(path -> "/" + ROOT.relativize(path)).filter(path -> !path.contains("/target") && !path.contains("/.git"))
                    .collect(Collectors.joining("\n", "\n", "\n"));
        }
        return Stream.of(LINK, NAMED).flatMap(pattern -> pattern.matcher(page).results()).map(found -> found.group(1))
                .filter(name -> !name.contains("target/"))
                .filter(name -> !Pattern.compile("/" + Pattern.quote(name.replaceFirst("/$", "")).replace("…", "\\E.*\\Q") + "\n").matcher(paths).find())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"README.md, 80", "ARCHITECTURE.md, 155", "CONTRIBUTING.md, 90"})
    void shouldBeShortAndNameOnlyPlacesThatExist(String page, int mostLines) throws IOException {
        String text = Files.readString(ROOT.resolve(page));

        assertThat(text.lines()).as("move what is more to docs/").hasSizeLessThanOrEqualTo(mostLines);
        assertThat(lost(text)).as("these places do not exist").isEmpty();
    }

    @Test
    void shouldAnswerTwelveQuestionsOfANewcomerWithAPath() throws IOException {
        assertThat(QUESTION.matcher(Files.readString(ROOT.resolve("CONTRIBUTING.md"))).results()).hasSizeGreaterThanOrEqualTo(12);
    }

    @Test
    void shouldFindAPlaceThatDoesNotExist() throws IOException {
        assertThat(lost("`spec/region.abi`, `turn.c`, `region/…/Limit.java`, `it/`, [docs](docs/README.md#words)")).isEmpty();
        assertThat(lost("`spec/no.abi` `nowhere.c` `region/…/Limitless.java` `ti/` [docs](docs/READ.md)"))
                .containsExactly("docs/READ.md", "spec/no.abi", "nowhere.c", "region/…/Limitless.java", "ti/");
    }
}
