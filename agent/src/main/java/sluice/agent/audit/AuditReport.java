package sluice.agent.audit;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.agent.client.AgentClient;
import sluice.agent.json.JsonTree;
import sluice.agent.machine.AuditFinding;
import sluice.agent.machine.MachineJson;
import sluice.agent.settings.Places;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import tools.jackson.core.JsonGenerator;

/// What an audit found.
///
/// @param audited whether there is an NVML to ask
/// @param gpus    all that NVML knows
public record AuditReport(boolean audited, List<Gpu> gpus, List<AuditFinding> findings) {

    /// A GPU and what is wrong with it.
    public record Gpu(int index, String uuid, int temperatureCelsius, List<String> health) {}

    public void write(JsonGenerator json) {
        json.writeStartObject();
        properties(json);
        json.writeEndObject();
    }

    private void properties(JsonGenerator json) {
        json.writeBooleanProperty("audited", audited);
        MachineJson.findings(json, findings);
        json.writeArrayPropertyStart("gpus");
        for (Gpu gpu : gpus) {
            json.writeStartObject();
            json.writeNumberProperty("gpu", gpu.index());
            json.writeStringProperty("uuid", gpu.uuid());
            json.writeNumberProperty("temperatureCelsius", gpu.temperatureCelsius());
            json.writeArrayPropertyStart("health");
            gpu.health().forEach(json::writeString);
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /// What the agent that serves this user has found, if there is one that answers and audits.
    public static Optional<AuditReport> ofAgent(List<RuntimeDirectory> directories) {
        for (Path socket : Places.sockets(directories)) {
            if (Files.exists(socket)) {
                try {
                    AgentClient.Response response = new AgentClient(socket).get("/v1/audit");
                    return response.status() == 200 ? Optional.of(parse(JsonTree.parse(response.body()))) : Optional.empty();
                } catch (SluiceException e) {
                    // Left by an agent that was killed, or of another version.
                }
            }
        }
        return Optional.empty();
    }

    static AuditReport parse(JsonTree json) {
        List<Gpu> gpus = new ArrayList<>();
        json.at("gpus").elements().forEach(gpu -> gpus.add(new Gpu((int) gpu.at("gpu").number(), gpu.at("uuid").text(),
                (int) gpu.at("temperatureCelsius").number(), gpu.at("health").elements().stream().map(JsonTree::text).toList())));
        return new AuditReport(json.at("audited").isTrue(), gpus, json.at("findings").elements().stream().map(AuditReport::finding).toList());
    }

    private static AuditFinding finding(JsonTree json) {
        return new AuditFinding(json.at("kind").text(), json.at("pid").number(), json.at("uid").number(), json.at("uuid").text(),
                json.at("command").text(), json.at("tenant").text(), json.at("container").text(), json.at("usedBytes").number(),
                json.at("ledgerBytes").number(), Instant.ofEpochSecond(0, json.at("sinceNanos").number()), json.at("action").text());
    }
}
