package sluice.it.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sluice.proof.Verify;

/// `docs/behaviours.md` names tests and checks; all of them exist, and no behaviour is without.
class BehavioursPageTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");
    private static final List<Integer> NUMBERS =
            IntStream.concat(IntStream.rangeClosed(1, 16), IntStream.rangeClosed(23, 33)).boxed().toList();

    private record Line(int number, String tests, String checks) {}

    @Test
    void shouldHaveALineForEachBehaviour() throws Exception {
        assertThat(lines()).extracting(Line::number).isEqualTo(NUMBERS);
    }

    @Test
    void shouldNameTestsThatExist() throws Exception {
        for (Line line : lines()) {
            List<String> names = names(line.tests()).stream().filter(name -> name.contains("should")).toList();
            assertThat(line.tests().startsWith("the check") || !names.isEmpty()).as("behaviour %d is tested", line.number()).isTrue();
            assertThat(names).as("behaviour %d", line.number()).allSatisfy(name -> assertThat(isTest(name)).as(name).isTrue());
        }
    }

    @Test
    void shouldNameChecksThatExist() throws Exception {
        Set<String> checks = Verify.checks().stream().map(check -> check.group().word() + ": " + check.name()).collect(Collectors.toSet());
        for (Line line : lines()) {
            if (line.checks().startsWith("none: ")) {
                assertThat(line.tests()).as("behaviour %d", line.number()).doesNotContain("the check");
            } else {
                assertThat(names(line.checks())).as("behaviour %d", line.number()).isNotEmpty().isSubsetOf(checks);
            }
        }
    }

    private static List<Line> lines() throws IOException {
        return Files.readAllLines(ROOT.resolve("docs/behaviours.md")).stream()
                .filter(line -> line.matches("\\| \\d+ \\|.*"))
                .map(line -> line.split(" \\| "))
                .peek(cells -> assertThat(cells).as(cells[0]).hasSize(4))
                .map(cells -> new Line(Integer.parseInt(cells[0].substring(2)), cells[2], cells[3]))
                .toList();
    }

    private static List<String> names(String cell) {
        return NAME.matcher(cell).results().map(result -> result.group(1)).toList();
    }

    /// `Class.method` of a system test, or `file.c: function` of the tests in C.
    private static boolean isTest(String name) throws IOException {
        if (name.contains(".c: ")) {
            String[] parts = name.split(": ");
            return source("native/test", parts[0]).contains("static void " + parts[1] + "(");
        }
        String[] parts = name.split("\\.");
        return source("it/src/test/java", parts[0] + ".java").contains("    void " + parts[1] + "(");
    }

    private static String source(String folder, String name) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
            return Files.readString(files.filter(file -> file.endsWith(name)).findFirst().orElseThrow(() -> new AssertionError("no " + name + " in " + folder)));
        }
    }
}
