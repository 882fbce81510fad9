package sluice.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sluice.proof.checks.MemoryWay;
import sluice.proof.checks.View;

class MemoryPageTest {
    private static final Path PAGE = Path.of("..", "docs", "memory.md");

    @Test
    void shouldBeWhatTheChecksSay() throws Exception {
        assertThat(Files.readString(PAGE))
                .as("docs/memory.md is stale; refresh it with: ./sluice verify --markdown > docs/memory.md")
                .isEqualTo(MemoryPage.markdown());
    }

    @Test
    void shouldHaveACheckForEveryWayAndView() {
        assertThat(Stream.concat(Stream.of(MemoryWay.values()), Stream.of(View.values())))
                .allSatisfy(subject -> assertThat(Verify.checks()).anyMatch(check -> check.subjects().contains(subject)));
    }
}
