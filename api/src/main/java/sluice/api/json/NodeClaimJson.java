package sluice.api.json;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import sluice.api.model.NodeClaim;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;
import tools.jackson.core.JsonGenerator;

/// A claim of a cluster as JSON. The token is never part of it: a declaration has it beside the claim.
public final class NodeClaimJson {
    private NodeClaimJson() {}

    /// Writes the properties into the open object.
    public static void properties(JsonGenerator json, NodeClaim claim) {
        json.writeStringProperty("id", claim.id());
        json.writeArrayPropertyStart("gpus");
        claim.gpus().forEach(json::writeString);
        json.writeEndArray();
        json.writeObjectPropertyStart("limits");
        claim.limits().forEach((limit, value) -> json.writeStringProperty(limit.word(), value));
        json.writeEndObject();
        json.writeStringProperty("namespace", claim.namespace());
        json.writeStringProperty("claim", claim.claim());
        json.writeStringProperty("pod", claim.pod());
        json.writeStringProperty("container", claim.container());
    }

    public static NodeClaim read(JsonTree json) {
        return new NodeClaim(json.at("id").text(), texts(json.at("gpus")), limits(json.at("limits")), json.at("namespace").text(), json.at("claim").text(),
                json.at("pod").text(), json.at("container").text());
    }

    private static List<String> texts(JsonTree json) {
        return json.elements().stream().map(JsonTree::text).toList();
    }

    private static Map<Limit, String> limits(JsonTree json) {
        if (!(json.value() instanceof Map<?, ?> words)) {
            throw new SluiceException("a claim has limits, as in {\"memory\": \"6g\"}");
        }
        Map<Limit, String> limits = new EnumMap<>(Limit.class);
        for (Object name : words.keySet()) {
            Limit limit = Limit.of(name.toString()).orElseThrow(() -> new SluiceException("there is no limit '" + name + "'; is the node program of the agent's version?"));
            limits.put(limit, json.at(name.toString()).text());
        }
        return limits;
    }
}
