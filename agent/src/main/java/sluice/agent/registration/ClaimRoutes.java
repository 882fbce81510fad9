package sluice.agent.registration;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.api.json.JsonTree;
import sluice.api.json.NodeClaimJson;
import sluice.api.model.NodeClaim;
import sluice.region.place.ThisProcess;

/// The routes by which the node program of a cluster declares its claims. Only root and the agent's own user may use them, on the socket,
/// because a claim sets limits.
final class ClaimRoutes {
    private final Supplier<Optional<Registrar>> registrar;

    /// @param registrar none while the agent registers no jobs
    ClaimRoutes(Supplier<Optional<Registrar>> registrar) {
        this.registrar = registrar;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/claims", "Claims of a cluster on this machine, without their tokens. For root and the agent's user.", this::list),
                Route.write("PUT", "/v1/claims/{id}",
                        "Declares a claim of a cluster: {\"token\": …, \"id\": …, \"gpus\": [UUID], \"limits\": {\"memory\": \"6g\"}, \"namespace\": …, \"claim\": …, "
                                + "\"pod\": …, \"container\": …}. Processes that register with the label 'claim:TOKEN' are one tenant with these limits. For root and the agent's user.",
                        this::declare),
                Route.write("DELETE", "/v1/claims/{id}", "Withdraws a claim; one that is not there counts as withdrawn. For root and the agent's user.", this::withdraw));
    }

    private Registrar permitted(Request request) {
        Caller caller = request.caller();
        if (caller.uid() != 0 && caller.uid() != ThisProcess.current().uid()) {
            throw new Refusal(403, "only root and the agent's user may see and change claims, on the agent's socket");
        }
        return registrar.get().orElseThrow(() -> new Refusal(409, "this agent registers no jobs; set all-users or policy in its config file"));
    }

    private Answer list(Request request) {
        List<NodeClaim> claims = permitted(request).claims().list();
        return Answer.json(json -> {
            json.writeStartObject();
            json.writeArrayPropertyStart("claims");
            claims.forEach(claim -> {
                json.writeStartObject();
                NodeClaimJson.properties(json, claim);
                json.writeEndObject();
            });
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private Answer declare(Request request) {
        Registrar permitted = permitted(request);
        JsonTree json = JsonTree.parse(request.body());
        NodeClaim claim = NodeClaimJson.read(json);
        if (!claim.id().equals(request.part("id"))) {
            throw new Refusal(400, "the path names claim '" + request.part("id") + "' and the body another");
        }
        permitted.claims().declare(json.at("token").text(), claim);
        return done();
    }

    private Answer withdraw(Request request) {
        permitted(request).withdraw(request.part("id"));
        return done();
    }

    private static Answer done() {
        return new Answer.Whole(204, Answer.JSON, new byte[0], Map.of());
    }
}
