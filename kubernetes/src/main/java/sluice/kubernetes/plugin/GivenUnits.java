package sluice.kubernetes.plugin;

import java.util.List;
import java.util.Optional;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;

/// Memory that a container got, as it is kept on disk.
///
/// @param id        of the claim at the agent
/// @param token     by which the container's processes register
/// @param workspace the ALNAIR_ID; empty without
/// @param percent   of GPU time, as far as the order of kubelet's calls tells it; 0: none
/// @param seconds   when it was given, of the clock on the wall
/// @param holder    the container, once kubelet has named it
record GivenUnits(String id, UnitResource resource, List<String> units, String token, String workspace, int percent, long seconds, Optional<Holder> holder) {
    /// A container of a pod.
    record Holder(String namespace, String pod, String container) {}

    GivenUnits {
        units = List.copyOf(units);
    }

    List<UnitId> ids() {
        return UnitId.parse(units);
    }

    List<String> gpus() {
        return List.copyOf(UnitId.byGpu(ids()).keySet());
    }

    /// On each of its GPUs.
    long bytes() {
        return units.size() / gpus().size() * resource.unitBytes();
    }

    GivenUnits with(int percentOfTime) {
        return new GivenUnits(id, resource, units, token, workspace, percentOfTime, seconds, holder);
    }

    GivenUnits with(Holder container) {
        return new GivenUnits(id, resource, units, token, workspace, percent, seconds, Optional.of(container));
    }

    byte[] json() {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeStringProperty("id", id);
            json.writeStringProperty("resource", resource.name());
            json.writeArrayPropertyStart("units");
            units.forEach(json::writeString);
            json.writeEndArray();
            json.writeStringProperty("token", token);
            json.writeStringProperty("workspace", workspace);
            json.writeNumberProperty("percent", percent);
            json.writeNumberProperty("seconds", seconds);
            holder.ifPresent(container -> {
                json.writeStringProperty("namespace", container.namespace());
                json.writeStringProperty("pod", container.pod());
                json.writeStringProperty("container", container.container());
            });
            json.writeEndObject();
        });
    }

    static GivenUnits parse(byte[] text) {
        JsonTree json = JsonTree.parse(text);
        Optional<Holder> holder = json.has("pod") ? Optional.of(new Holder(json.at("namespace").text(), json.at("pod").text(), json.at("container").text())) : Optional.empty();
        return new GivenUnits(json.at("id").text(), UnitResource.valueOf(json.at("resource").text()), json.at("units").elements().stream().map(JsonTree::text).toList(),
                json.at("token").text(), json.at("workspace").text(), Math.toIntExact(json.at("percent").number()), json.at("seconds").number(), holder);
    }
}
