package sluice.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class FaultTableTest {
    @TempDir
    private Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /// Run by the test below alone.
    @Fault(kind = Fault.Kind.DAMAGE, of = "a class")
    @EnabledIfSystemProperty(named = "sluice.example", matches = "yes")
    static class Example {
        @Test
        void shouldHold() {}

        @Test
        @Fault(kind = Fault.Kind.KILL, of = "a method")
        void shouldFail() {
            throw new AssertionError("on purpose");
        }

        @Test
        void shouldBeSkipped() {
            Assumptions.abort("on purpose");
        }
    }

    static class Unmarked {
        @Test
        void shouldNotBeNoted() {}
    }

    private FaultTable run(Class<?> tests) {
        Path file = folder.resolve("deep/notes");
        var request = LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build();
        var alone = LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build();
        LauncherFactory.create(alone).execute(request, new FaultListener(Optional.of(file), new PrintStream(printed)));
        return FaultTable.read(file);
    }

    @Test
    void shouldHaveARowForEachKindAndTarget() {
        System.setProperty("sluice.example", "yes");
        try {
            FaultTable table = run(Example.class);

            assertThat(table.rows()).extracting(row -> row.kind() + " " + row.of() + " " + row.tests() + row.held() + row.failed() + row.skipped())
                    .containsExactly("KILL a method 1010", "DAMAGE a class 2101");
            assertThat(table.tests(Fault.Kind.DAMAGE)).isEqualTo(2);
            assertThat(printed.toString()).isEqualTo(table + System.lineSeparator()).contains("kill").contains("failed: Example.shouldFail");
        } finally {
            System.clearProperty("sluice.example");
        }
    }

    @Test
    void shouldNoteAClassThatDoesNotRun() {
        assertThat(run(Example.class).rows()).extracting(FaultTable.Row::skipped).containsExactly(1L);
    }

    @Test
    void shouldLeaveOtherTestsOut() {
        assertThat(run(Unmarked.class).rows()).isEmpty();
        assertThat(printed.toString()).isEmpty();
    }
}
