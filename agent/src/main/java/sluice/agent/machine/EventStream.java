package sluice.agent.machine;

import java.nio.charset.StandardCharsets;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.json.JsonBytes;

/// Server-sent events: `machine` with every look, `event` at once. A client that comes back says which event it has seen.
final class EventStream {
    private static final int MOST_MISSED = 100;
    private static final String TYPE = "text/event-stream; charset=utf-8";

    private final Machine machine;
    private MachineLook written;
    private byte[] message;

    EventStream(Machine machine) {
        this.machine = machine;
    }

    Answer open(Request request) {
        long seen = request.header("last-event-id").map(this::seen).orElse(0L);
        return new Answer.Stream(TYPE, sink -> start(sink, request.caller(), seen));
    }

    private long seen(String mark) {
        try {
            return machine.events().seen(mark);
        } catch (IllegalArgumentException e) {
            throw new Refusal(400, "bad Last-Event-ID; send the id of the last event, or none");
        }
    }

    private void start(Answer.Sink sink, Caller caller, long seen) {
        Runnable noEvents = machine.events().listen(seen, MOST_MISSED, event -> {
            if (caller.sees(event.uid())) {
                sink.send(message(event));
            }
        });
        MachineLook last = machine.last();
        if (last.number() > 0) {
            sink.offer(message(last, caller));
        }
        Runnable noLooks = machine.listen(look -> sink.offer(message(look, caller)));
        sink.whenClosed(() -> {
            noLooks.run();
            noEvents.run();
        });
    }

    /// The same bytes for all who see everything.
    private synchronized byte[] message(MachineLook look, Caller caller) {
        if (caller.rights() == Caller.Rights.OWN) {
            return machineMessage(look.seenBy(caller));
        }
        if (look != written) {
            message = machineMessage(look);
            written = look;
        }
        return message;
    }

    private static byte[] machineMessage(MachineLook look) {
        return message("event: machine\n", JsonBytes.of(json -> MachineJson.machine(json, look, false)));
    }

    private byte[] message(Event event) {
        return message("event: event\nid: " + machine.events().mark(event) + "\n", JsonBytes.of(json -> MachineJson.event(json, event)));
    }

    private static byte[] message(String head, byte[] json) {
        byte[] before = (head + "data: ").getBytes(StandardCharsets.UTF_8);
        byte[] message = new byte[before.length + json.length + 2];
        System.arraycopy(before, 0, message, 0, before.length);
        System.arraycopy(json, 0, message, before.length, json.length);
        message[message.length - 2] = '\n';
        message[message.length - 1] = '\n';
        return message;
    }
}
