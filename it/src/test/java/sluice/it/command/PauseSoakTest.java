package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// A short part of the soak of pauses, with random faults: so it stays runnable, and knows where the fields of the region are. A failure names the seed of its round.
@Timeout(180)
class PauseSoakTest extends OnMachine {
    private static final Path SOAK = Path.of(System.getProperty("sluice.root", "..")).resolve("bench/soak/pause.py").toAbsolutePath().normalize();

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "jobs at random steps of a pause, with faults of the driver")
    void shouldLoseNothingWhateverHappensToAPause() throws Exception {
        var outcome = machine.plain("/usr/bin/python3", SOAK.toString(), "--home", Machine.HOME.toString(), "--seed", "4242", "--seconds", "20", "--jobs", "1");
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(outcome.output()).contains("| done vacate |", "| kept |", "| broken | 0 |");
    }
}
