package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.it.machine.Machine;

/// What `sluice verify` ends with. The simulated driver breaks the promises.
@Timeout(300)
class VerifyStatusTest {
    @TempDir
    private Path directory;

    private Machine machine;

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
    }

    @AfterEach
    void stop() throws Exception {
        machine.close();
    }

    @Test
    void shouldFailWhenOneCheckOfSeveralDoes() throws Exception {
        machine.with("SLUICE_SIM_FAULTS", "cuMipmappedArrayCreate=2");

        var outcome = machine.sluice("verify", "--sim", "arrays");

        assertThat(outcome.lines()).as(outcome.errors()).filteredOn(line -> line.startsWith("  FAIL")).singleElement().asString().contains("mipmapped arrays");
        assertThat(outcome.output()).contains(" 1 fail, ");
        assertThat(outcome.status()).isEqualTo(1);
    }

    @Test
    void shouldEndWellWhenAllHold() throws Exception {
        var outcome = machine.sluice("verify", "--sim", "arrays");

        assertThat(outcome.lines()).as(outcome.errors()).noneMatch(line -> line.startsWith("  FAIL"));
        assertThat(outcome.status()).as(outcome.output()).isZero();
    }
}
