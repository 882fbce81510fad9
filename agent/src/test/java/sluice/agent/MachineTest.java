package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import sluice.region.Processes;

class MachineTest {
    private final EventLog events = new EventLog();
    private final Machine machine = new Machine(List::of, new Gpus(Optional.empty()), Processes.BY_PROC, events);

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
}
