package sluice.api.json;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import tools.jackson.core.JsonGenerator;

/// What an audit found, for scripts.
public final class AuditJson {
    private AuditJson() {}

    public static void write(JsonGenerator json, AuditReport report) {
        json.writeStartObject();
        json.writeBooleanProperty("audited", report.audited());
        findings(json, report.findings());
        json.writeArrayPropertyStart("gpus");
        for (AuditReport.Gpu gpu : report.gpus()) {
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
        json.writeEndObject();
    }

    public static void findings(JsonGenerator json, List<AuditFinding> findings) {
        json.writeArrayPropertyStart("findings");
        for (AuditFinding finding : findings) {
            json.writeStartObject();
            json.writeStringProperty("kind", finding.kind());
            json.writeNumberProperty("pid", finding.pid());
            json.writeNumberProperty("uid", finding.uid());
            json.writeStringProperty("uuid", finding.gpuUuid());
            json.writeStringProperty("command", finding.command());
            json.writeStringProperty("tenant", finding.tenant());
            json.writeStringProperty("container", finding.container());
            json.writeNumberProperty("usedBytes", finding.usedBytes());
            json.writeNumberProperty("ledgerBytes", finding.ledgerBytes());
            json.writeNumberProperty("sinceNanos", finding.since().getEpochSecond() * 1_000_000_000L + finding.since().getNano());
            json.writeStringProperty("action", finding.action());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    public static AuditReport read(JsonTree json) {
        List<AuditReport.Gpu> gpus = new ArrayList<>();
        json.at("gpus").elements().forEach(gpu -> gpus.add(new AuditReport.Gpu((int) gpu.at("gpu").number(), gpu.at("uuid").text(),
                (int) gpu.at("temperatureCelsius").number(), gpu.at("health").elements().stream().map(JsonTree::text).toList())));
        return new AuditReport(json.at("audited").isTrue(), gpus, json.at("findings").elements().stream().map(AuditJson::finding).toList());
    }

    private static AuditFinding finding(JsonTree json) {
        return new AuditFinding(json.at("kind").text(), json.at("pid").number(), json.at("uid").number(), json.at("uuid").text(),
                json.at("command").text(), json.at("tenant").text(), json.at("container").text(), json.at("usedBytes").number(),
                json.at("ledgerBytes").number(), Instant.ofEpochSecond(0, json.at("sinceNanos").number()), json.at("action").text());
    }
}
