package sluice.agent.machine;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.api.json.LimitsJson;
import sluice.api.json.StatJson;
import sluice.api.limits.LimitsBody;
import sluice.api.limits.LimitsSetter;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.calls.TenantCalls;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;

/// The routes for the machine and its tenants.
public final class MachineRoutes {
    public static final Route.Parameter UID = new Route.Parameter("uid", "the user, when several have a tenant of this name");

    private final Machine machine;
    private final Gpus gpus;
    private final EventStream events;

    public MachineRoutes(Machine machine, Gpus gpus) {
        this.machine = machine;
        this.gpus = gpus;
        events = new EventStream(machine);
    }

    public List<Route> routes() {
        return List.of(
                Route.get("/v1/machine", "GPUs, tenants, boards, findings of the audit and the last events.", this::machine),
                Route.get("/v1/gpus", "The GPUs alone, as the last look saw them.", this::gpus),
                Route.get("/v1/tenants", "All tenants, as 'sluice ps --all --json' writes them, with what they did of late.", this::tenants)
                        .with(new Route.Parameter("outside", "folders, with commas between them, whose tenants are left out")),
                Route.get("/v1/tenants/{name}", "One tenant.", this::tenant).with(UID),
                Route.get("/v1/tenants/{name}/stat", "Counters of one tenant by CUDA function, as 'sluice stat --json' writes them.", this::stat).with(UID),
                Route.write("PATCH", "/v1/tenants/{name}/limits",
                        "Changes limits while the tenant runs. The body has the options of 'sluice set' and their values, as in "
                                + "{\"memory\": \"6g\", \"compute\": \"50%\"}; the answer is the tenant.", this::limits).with(UID),
                Route.get("/v1/limits", "The limits that there are: how each is written, and where a tenant has it.",
                        request -> Answer.json(LimitsJson::table)).forAll(),
                Route.get("/v1/events", "Server-sent events: 'machine' first, 'changes' with each further look, 'event' at once.", events::open));
    }

    private Answer machine(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        return Answer.json(json -> MachineJson.machine(json, look, true));
    }

    private Answer gpus(Request request) {
        MachineLook last = machine.last();
        MachineLook look = (last.number() > 0 ? last : machine.fresh()).seenBy(request.caller());
        return Answer.json(json -> {
            json.writeStartObject();
            json.writeArrayPropertyStart("gpus");
            look.gpus().forEach(gpu -> MachineJson.gpu(json, gpu));
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private Answer tenants(Request request) {
        Set<String> outside = Set.of(request.query("outside").orElse("").split(","));
        MachineLook look = machine.looksOnlyIn(outside) ? MachineLook.NONE : machine.fresh().seenBy(request.caller());
        List<TenantLook> tenants = look.tenants().stream()
                .filter(tenant -> !outside.contains(String.valueOf(tenant.tenant().file().getParent()))).toList();
        return Answer.json(json -> {
            json.writeStartObject();
            MachineJson.tenants(json, tenants, look.onBoards());
            json.writeEndObject();
        });
    }

    private Answer tenant(Request request) {
        MachineLook look = machine.fresh().seenBy(request.caller());
        TenantLook found = find(look, request);
        return Answer.json(json -> MachineJson.tenant(json, found, look.onBoards()));
    }

    private Answer stat(Request request) {
        Tenant seen = find(machine.fresh().seenBy(request.caller()), request).tenant();
        TenantCalls calls = TenantCalls.read(seen.file());
        return Answer.json(json -> StatJson.write(json, seen, calls));
    }

    private Answer limits(Request request) {
        Tenant seen = find(machine.fresh().seenBy(request.caller()), request).tenant();
        if (!request.caller().owns(seen.uid())) {
            throw new Refusal(403, "tenant '" + seen.name() + "' is another user's");
        }
        if (request.caller().rights() != Caller.Rights.ALL && Region.isSplit(seen.file())) {
            requireBounds(seen, LimitsBody.read(request.body()));
        }
        LimitsSetter.set(seen, LimitsBody.parse(request.body()), gpus.known());
        return tenant(request);
    }

    /// The user that started a job by `sluice run` may set the limits that it could have asked for.
    private void requireBounds(Tenant tenant, Map<Limit, String> words) {
        GivenLimits bounds = machine.bounds(tenant).orElseThrow(
                () -> new Refusal(403, "the limits of '" + tenant.name() + "' are from the agent's policy; an administrator can change them"));
        words.forEach((limit, value) -> {
            if (!bounds.allow(limit, value)) {
                throw new Refusal(403, limit.word() + " " + value + " is more than " + bounds.source().words() + " gives '" + tenant.name() + "'; an administrator can set it");
            }
        });
    }

    /// The tenant that a request names, if its caller may see it.
    public static TenantLook find(MachineLook look, Request request) {
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
