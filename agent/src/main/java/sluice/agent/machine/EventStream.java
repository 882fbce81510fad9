package sluice.agent.machine;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.api.json.JsonBytes;

/// Server-sent events: `machine` with the first look, `changes` with the next ones, `event` at once. A client that reconnects sends the
/// last event that it has seen.
final class EventStream {
    private static final int MOST_MISSED = 100;
    private static final String TYPE = "text/event-stream; charset=utf-8";

    private final Machine machine;
    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private final TenantIds ids = new TenantIds();
    /// The last look, complete, by what a caller may see.
    private final Map<Long, byte[]> wholes = new HashMap<>();
    private MachineLook last = MachineLook.NONE;

    EventStream(Machine machine) {
        this.machine = machine;
        machine.listen(this::see);
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
        Client client = new Client(sink, caller);
        begin(client);
        sink.whenClosed(() -> {
            clients.remove(client);
            noEvents.run();
        });
    }

    private synchronized void begin(Client client) {
        clients.add(client);
        if (last.number() > 0) {
            tell(client, last, Map.of());
        }
    }

    /// A client that got the previous look gets changes. A client that was still reading gets the next look whole.
    private synchronized void see(MachineLook look) {
        MachineLook before = last;
        last = look;
        wholes.clear();
        if (!clients.isEmpty()) {
            Map<Long, byte[]> changes = new HashMap<>();
            clients.forEach(client -> tell(client, before, changes));
        }
        ids.retain(look.tenants());
    }

    private static final class Client {
        private final Answer.Sink sink;
        private final Caller caller;
        /// The number of the last look that it got.
        private long told;

        private Client(Answer.Sink sink, Caller caller) {
            this.sink = sink;
            this.caller = caller;
        }

        /// All callers that may see everything get the same text.
        private long view() {
            return caller.rights() == Caller.Rights.OWN ? caller.uid() : Caller.UNKNOWN;
        }
    }

    private void tell(Client client, MachineLook before, Map<Long, byte[]> changes) {
        boolean next = client.told > 0 && client.told == before.number();
        LookChanges between = new LookChanges(before.seenBy(client.caller), last.seenBy(client.caller), ids);
        byte[] bytes = next && between.fit() ? changes.computeIfAbsent(client.view(), view -> message("event: changes\n", JsonBytes.of(between::write)))
                : wholes.computeIfAbsent(client.view(), view -> message("event: machine\n",
                        JsonBytes.of(json -> MachineJson.machine(json, between.now(), false, tenant -> OptionalInt.of(ids.of(tenant))))));
        if (client.sink.offer(bytes)) {
            client.told = last.number();
        }
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
