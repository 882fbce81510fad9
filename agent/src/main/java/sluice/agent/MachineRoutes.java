package sluice.agent;

import java.util.List;
import java.util.Optional;
import sluice.agent.MachineLook.TenantLook;

/// What the agent tells of the machine and its tenants.
final class MachineRoutes {
    private static final Route.Parameter UID = new Route.Parameter("uid", "the user, when several have a tenant of this name");

    private final Machine machine;
    private final EventStream events;

    MachineRoutes(Machine machine) {
        this.machine = machine;
        events = new EventStream(machine);
    }

    List<Route> routes() {
        return List.of(
                Route.get("/healthz", "Whether the agent lives and looks.", this::health).forAll(),
                Route.get("/v1/machine", "GPUs, tenants, boards, findings of the audit and the last events.", this::machine),
                Route.get("/v1/tenants", "All tenants, as 'sluice ps --all --json' writes them, with what they did of late.", this::tenants),
                Route.get("/v1/tenants/{name}", "One tenant.", this::tenant).with(UID),
                Route.get("/v1/audit", "Processes that use a GPU in a way that no ledger knows.", this::audit),
                Route.get("/v1/events", "Server-sent events: 'machine' once a second, 'event' at once.", events::open));
    }

    private Answer health(Request request) {
        return Answer.text(machine.last().number() > 0 ? "ok\n" : "starting\n");
    }

    private Answer machine(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        return Answer.json(json -> MachineJson.machine(json, look, true));
    }

    private Answer tenants(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        return Answer.json(json -> {
            json.writeStartObject();
            MachineJson.tenants(json, look);
            json.writeEndObject();
        });
    }

    private Answer tenant(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        TenantLook found = find(look, request);
        return Answer.json(json -> MachineJson.tenant(json, found, look.onBoards()));
    }

    private Answer audit(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        return Answer.json(json -> {
            json.writeStartObject();
            MachineJson.findings(json, look.findings());
            json.writeEndObject();
        });
    }

    static TenantLook find(MachineLook look, Request request) {
        Optional<Long> uid = request.query("uid").map(MachineRoutes::uid);
        return look.tenant(request.part("name"), uid)
                .orElseThrow(() -> new Refusal(404, "there is no tenant '" + request.part("name") + "'; GET /v1/tenants lists them"));
    }

    private static long uid(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new Refusal(400, "bad uid '" + text + "'; write a number");
        }
    }
}
