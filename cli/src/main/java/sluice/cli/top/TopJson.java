package sluice.cli.top;

import java.io.PrintWriter;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.cli.output.Json;
import tools.jackson.core.JsonGenerator;

/// A look for scripts, on one line. Tenants are those of `sluice ps --json`; `gotPermille` and the rates of GPUs are of the
/// time since the look before, which is `overNanos` long. `otherBytes` is left out where the driver cannot be asked.
final class TopJson {
    private TopJson() {}

    static void write(PrintWriter out, TopLook look, TopLook earlier) {
        Json.writeLine(out, json -> {
            json.writeStartObject();
            json.writeStringProperty("at", look.at().toString());
            json.writeNumberProperty("overNanos", look.overNanos());
            json.writeArrayPropertyStart("gpus");
            look.gpus().forEach(gpu -> gpu(json, gpu, look));
            json.writeEndArray();
            json.writeArrayPropertyStart("tenants");
            look.tenants().forEach(tenant -> TenantJson.write(json, tenant, EarlierLook.at(earlier.tenants()), new OnBoards(look.boards())));
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private static void gpu(JsonGenerator json, TopGpu gpu, TopLook look) {
        json.writeStartObject();
        json.writeNumberProperty("gpu", gpu.index());
        json.writeStringProperty("uuid", gpu.uuid());
        json.writeStringProperty("name", gpu.name());
        json.writeNumberProperty("totalBytes", gpu.totalBytes());
        json.writeNumberProperty("tenantBytes", gpu.tenantBytes());
        if (gpu.otherBytes() != TopGpu.UNKNOWN) {
            json.writeNumberProperty("otherBytes", gpu.otherBytes());
        }
        json.writeNumberProperty("turnsPerSecond", gpu.turnsPerSecond());
        json.writeArrayPropertyStart("tenants");
        for (TopRow row : look.rowsOn(gpu.uuid())) {
            json.writeStartObject();
            json.writeStringProperty("tenant", row.tenant().name());
            json.writeNumberProperty("usedBytes", row.usedBytes());
            json.writeNumberProperty("gotPermille", row.gotPermille());
            json.writeNumberProperty("waitPermille", row.waitPermille());
            json.writeNumberProperty("callsPerSecond", row.callsPerSecond());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
