package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// What a new user sees first.
class DemoTest extends OnMachine {
    private static final long MIB = 1 << 20;

    @Test
    void shouldShowTwoJobsAndEndWell() throws Exception {
        var outcome = machine.sluice("demo", "--sim");
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(outcome.lines().getFirst()).contains("simulated");
        assertThat(outcome.output()).contains("1.0 GiB").contains("2.0 GiB");
    }

    @Test
    void shouldExplainTheMachine() throws Exception {
        var outcome = machine.sluice("doctor");
        assertThat(outcome.output()).contains("simulated GPU").contains("library").contains("enforced: memory of");
        assertThat(outcome.status()).isZero();
    }

    @Test
    void shouldCompleteInTheShell() throws Exception {
        Path script = directory.resolve("completion");
        Files.writeString(script, machine.sluice("completion", "bash").output());
        var outcome = machine.plain("bash", "-c",
                "source " + script + "; COMP_WORDS=(sluice ins); COMP_CWORD=1; _complete_sluice; echo ${COMPREPLY[@]}");
        assertThat(outcome.output().strip()).isEqualTo("inspect");
    }

    @Test
    void shouldBeSmallEnoughToCarry() throws IOException {
        try (var files = Files.newDirectoryStream(Machine.BUILT.getParent(), "*.tar.gz")) {
            for (Path file : files) {
                assertThat(Files.size(file)).as(file.toString()).isLessThan(60 * MIB);
            }
        }
    }
}
