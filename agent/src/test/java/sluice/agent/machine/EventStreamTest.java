package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Request;
import sluice.region.Processes;

class EventStreamTest {
    private final Machine machine = new Machine(List::of, new Gpus(Optional.empty()), Processes.BY_PROC, new EventLog());
    private final EventStream stream = new EventStream(machine);

    /// What a client of the stream is told, line by line.
    private List<String> listen() {
        List<String> lines = new ArrayList<>();
        Request request = new Request("GET", "/v1/events", Map.of(), Map.of(), Map.of(), new byte[0], new Caller(0, 0, Caller.Rights.ALL));
        ((Answer.Stream) stream.open(request)).start().accept(new Answer.Sink() {
            @Override
            public boolean offer(byte[] bytes) {
                send(bytes);
                return true;
            }

            @Override
            public void send(byte[] bytes) {
                lines.addAll(new String(bytes, StandardCharsets.UTF_8).lines().toList());
            }

            @Override
            public void whenClosed(Runnable action) {}
        });
        return lines;
    }

    @Test
    void shouldShowNoMachineThatNobodyHasLookedAt() {
        List<String> early = listen();
        assertThat(early).isEmpty();

        machine.tick();

        assertThat(early).contains("event: machine");
        assertThat(listen()).as("who comes later").isEqualTo(early);
    }
}
