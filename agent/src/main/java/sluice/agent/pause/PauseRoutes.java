package sluice.agent.pause;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.agent.http.Answer;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineRoutes;
import sluice.api.json.JsonBytes;
import sluice.api.json.OperationJson;
import sluice.api.model.Operation;
import sluice.api.pause.PauseBody;
import sluice.region.Tenant;
import sluice.region.restore.RestoreRoom;

/// What a client can ask for: a pause, a resume, and how they stand. Only the owner of a tenant and administrators may ask for the first two.
final class PauseRoutes {
    private static final int ACCEPTED = 202;
    private static final String STREAM = "text/event-stream; charset=utf-8";

    private final Machine machine;
    private final Operations operations;
    private final RestoreRoom room;

    PauseRoutes(Machine machine, Operations operations, RestoreRoom room) {
        this.machine = machine;
        this.operations = operations;
        this.room = room;
    }

    List<Route> routes() {
        return List.of(
                Route.write("POST", "/v1/tenants/{name}/pause",
                        "Pauses a tenant: {\"depth\": \"hold\"} submits no more work, \"release\" moves its memory to the host too, \"vacate\" the driver's state "
                                + "too; with \"timeoutMillis\" it is withdrawn when it is not done by then. The answer is the operation.",
                        request -> begin(request, PauseBody.pause(request.body()))).with(MachineRoutes.UID),
                Route.write("POST", "/v1/tenants/{name}/resume", "Lets a paused tenant run again. The answer is the operation.",
                        request -> begin(request, PauseBody.resume(request.body()))).with(MachineRoutes.UID),
                Route.get("/v1/operations", "Pauses and resumes that run, and the last that ended.", this::list),
                Route.get("/v1/operations/{id}", "How a pause or a resume stands.", request -> whole(200, find(request))),
                Route.get("/v1/operations/{id}/events", "Server-sent events: 'operation' now and with each change; the last has another state than 'running'.", this::events),
                Route.write("DELETE", "/v1/operations/{id}", "Withdraws a pause that is not done; a resume goes on. The answer is the operation.", this::withdraw));
    }

    private Answer begin(Request request, PauseBody wanted) {
        Tenant tenant = MachineRoutes.find(machine.fresh().seenBy(request.caller()), request).tenant();
        requireOwner(request, tenant.uid(), tenant.name());
        Optional<String> lacking = wanted.kind().isPause() || !RestoreRoom.isNeededBefore(tenant) ? Optional.empty() : room.look(tenant);
        if (lacking.isPresent()) {
            throw new Refusal(409, lacking.get());
        }
        return whole(ACCEPTED, operations.begin(tenant, wanted));
    }

    private static void requireOwner(Request request, long uid, String tenant) {
        if (!request.caller().owns(uid)) {
            throw new Refusal(403, "tenant '" + tenant + "' is another user's");
        }
    }

    private Answer list(Request request) {
        List<Operation> seen = operations.list().stream().filter(operation -> request.caller().sees(operation.uid())).toList();
        return Answer.json(json -> {
            json.writeStartObject();
            json.writeArrayPropertyStart("operations");
            seen.forEach(operation -> OperationJson.write(json, operation));
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private Operation find(Request request) {
        return operations.find(request.part("id")).filter(operation -> request.caller().sees(operation.uid()))
                .orElseThrow(() -> new Refusal(404, "there is no operation '" + request.part("id") + "'; GET /v1/operations lists them"));
    }

    private Answer withdraw(Request request) {
        Operation found = find(request);
        requireOwner(request, found.uid(), found.tenant());
        return whole(200, operations.withdraw(found.id()));
    }

    private Answer events(Request request) {
        String id = find(request).id();
        return new Answer.Stream(STREAM, sink -> sink.whenClosed(operations.listen(id, operation -> {
            if (operation.runs()) {
                sink.offer(message(operation));
            } else {
                sink.send(message(operation));
            }
        })));
    }

    private static byte[] message(Operation operation) {
        String json = new String(bytes(operation), StandardCharsets.UTF_8);
        return ("event: operation\ndata: " + json + "\n\n").getBytes(StandardCharsets.UTF_8);
    }

    private static Answer whole(int status, Operation operation) {
        return new Answer.Whole(status, Answer.JSON, bytes(operation), Map.of());
    }

    private static byte[] bytes(Operation operation) {
        return JsonBytes.of(json -> OperationJson.write(json, operation));
    }
}
