package sluice.kubernetes.claims;

import java.util.List;
import java.util.Map;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.api.json.NodeClaimJson;
import sluice.api.model.NodeClaim;

/// A claim that containers may use, as it is kept on disk: all that is needed to declare it, to describe it and to answer kubelet again.
///
/// @param token      by which its processes register
/// @param generation part of its names for the container runtime, which are never used again
/// @param isShared   whether it belongs to no pod, so that many may use it
/// @param atSeconds  when it was prepared first, since 1970
public record PreparedClaim(NodeClaim claim, String token, String generation, boolean isShared, long atSeconds, List<PreparedDevice> devices) {
    /// A part of a GPU.
    ///
    /// @param share   the cluster's id of this part
    /// @param cdiName of the device in the claim's CDI file
    public record PreparedDevice(String request, String pool, String device, String share, String uuid, String cdiName) {}

    /// The same, for another pod.
    PreparedClaim of(ClaimPods.User user) {
        NodeClaim other = new NodeClaim(claim.id(), claim.gpus(), claim.limits(), claim.namespace(), claim.claim(), user.pod(), user.container());
        return new PreparedClaim(other, token, generation, isShared, atSeconds, devices);
    }

    byte[] json() {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeObjectPropertyStart("claim");
            NodeClaimJson.properties(json, claim);
            json.writeEndObject();
            json.writeStringProperty("token", token);
            json.writeStringProperty("generation", generation);
            json.writeBooleanProperty("shared", isShared);
            json.writeNumberProperty("atSeconds", atSeconds);
            json.writeArrayPropertyStart("devices");
            for (PreparedDevice device : devices) {
                json.writeStartObject();
                Map.of("request", device.request(), "pool", device.pool(), "device", device.device(), "share", device.share(), "uuid", device.uuid(), "cdiName", device.cdiName())
                        .forEach(json::writeStringProperty);
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    static PreparedClaim parse(byte[] text) {
        JsonTree json = JsonTree.parse(text);
        return new PreparedClaim(NodeClaimJson.read(json.at("claim")), json.at("token").text(), json.at("generation").text(), json.at("shared").isTrue(), json.numberOrZero("atSeconds"),
                json.at("devices").elements().stream().map(device -> new PreparedDevice(device.at("request").text(), device.at("pool").text(), device.at("device").text(),
                        device.has("share") ? device.at("share").text() : "", device.at("uuid").text(), device.at("cdiName").text())).toList());
    }
}
