package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sluice.agent.part.Part;
import sluice.agent.settings.Setting;

class PartsTest {
    private static final Path SOURCES = Path.of(System.getProperty("sluice.root")).resolve("agent/src/main/java");

    private static List<String> written() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java")).filter(PartsTest::isPart)
                    .map(file -> SOURCES.relativize(file).toString().replace(".java", "").replace('/', '.')).toList();
        }
    }

    private static boolean isPart(Path file) {
        try {
            return Files.readString(file).contains(" implements Part {");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldFindEveryPartThatIsWritten() throws IOException {
        assertThat(AgentService.parts()).extracting(part -> part.getClass().getName()).containsExactlyInAnyOrderElementsOf(written())
                .hasSizeGreaterThan(5);
    }

    @Test
    void shouldTakeTheSettingsOfEachPart() {
        List<Part> parts = AgentService.parts();

        assertThat(AgentService.settings(parts)).extracting(Setting::name).contains("look-every", "plan-every", "history-size", "audit-every", "metrics-also",
                "policy", "alnair-socket").doesNotHaveDuplicates();
    }
}
