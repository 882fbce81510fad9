package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.it.machine.OnMachine;

/// What `sluice verify` ends with. The simulated driver breaks the promises.
@Timeout(300)
class VerifyStatusTest extends OnMachine {
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
