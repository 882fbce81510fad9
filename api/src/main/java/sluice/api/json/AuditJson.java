package sluice.api.json;

import java.time.Instant;
import java.util.List;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import tools.jackson.core.JsonGenerator;

/// The report of an audit, for scripts and for clients of the agent.
public final class AuditJson {
    private AuditJson() {}

    public static void write(JsonGenerator json, AuditReport report) {
        JsonProperties.writeObject(json, report, AuditJson::describe);
    }

    /// The findings alone, as a property of the open object.
    public static void findings(JsonGenerator json, List<AuditFinding> findings) {
        JsonProperties.writeObjects(json, "findings", findings, AuditJson::finding);
    }

    public static AuditReport read(JsonTree json) {
        return JsonProperties.read(json, AuditJson::describe);
    }

    private static AuditReport describe(JsonProperties<AuditReport> at) {
        boolean audited = at.flag("audited", AuditReport::audited);
        List<AuditFinding> findings = at.objects("findings", AuditReport::findings, AuditJson::finding);
        return new AuditReport(audited, at.objects("gpus", AuditReport::gpus, AuditJson::gpu), findings);
    }

    private static AuditReport.Gpu gpu(JsonProperties<AuditReport.Gpu> at) {
        return new AuditReport.Gpu(at.count("gpu", AuditReport.Gpu::index), at.text("uuid", AuditReport.Gpu::uuid),
                at.count("temperatureCelsius", AuditReport.Gpu::temperatureCelsius), at.texts("health", AuditReport.Gpu::health));
    }

    private static AuditFinding finding(JsonProperties<AuditFinding> at) {
        return new AuditFinding(at.text("kind", AuditFinding::kind), at.number("pid", AuditFinding::pid), at.number("uid", AuditFinding::uid),
                at.text("uuid", AuditFinding::gpuUuid), at.text("command", AuditFinding::command), at.text("tenant", AuditFinding::tenant),
                at.text("container", AuditFinding::container), at.number("usedBytes", AuditFinding::usedBytes),
                at.number("ledgerBytes", AuditFinding::ledgerBytes),
                Instant.ofEpochSecond(0, at.number("sinceNanos", finding -> nanos(finding.since()))), at.text("action", AuditFinding::action));
    }

    private static long nanos(Instant at) {
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }
}
