package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.region.Processes;
import sluice.region.RuntimeDirectory;

@Timeout(60)
class MachineTest {
    private final EventLog events = new EventLog();
    private boolean fails;
    private final Machine machine = new Machine(this::directories, new Gpus(Optional.empty()), Processes.BY_PROC, events);

    private List<RuntimeDirectory> directories() {
        if (fails) {
            throw new IllegalStateException("cannot look");
        }
        return List.of();
    }

    /// The audit first has a finding and then tells of it.
    @Test
    void shouldShowNoEventWithoutItsFinding() {
        machine.findings(() -> {
            events.add("audit", "", 0, "found in this moment");
            return List.of();
        });

        assertThat(machine.look().events()).isEmpty();
        assertThat(machine.look().events()).hasSize(1);
    }

    @Test
    void shouldNotShowAnOldLookWhenTheNewOneFails() throws Exception {
        var asked = new FutureTask<>(machine::fresh);
        Thread client = new Thread(asked);
        synchronized (machine) {
            client.start();
            while (client.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            fails = true;
            assertThatIllegalStateException().isThrownBy(machine::look);
            fails = false;
        }

        assertThat(asked.get().number()).isEqualTo(1);
    }
}
