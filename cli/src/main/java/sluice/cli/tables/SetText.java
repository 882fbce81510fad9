package sluice.cli.tables;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import sluice.api.json.LimitsJson;
import sluice.cli.output.Json;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.Limit;
import sluice.region.limits.Size;

/// The result of `sluice set`.
public final class SetText {
    private SetText() {}

    public static List<String> lines(Tenant before, Tenant after, LimitsChange change) {
        List<String> lines = new ArrayList<>();
        change.words().keySet().stream().filter(limit -> !limit.isOfTurns()).forEach(limit -> lines.add(after.name() + ": " + limit.title() + " "
                + limit.format(after.limits()) + " (was " + limit.format(before.limits()) + ")"));
        if (change.isOfTurns()) {
            lines.add(after.name() + ": turns: " + ShareText.turns(after.compute()) + " (was " + ShareText.turns(before.compute()) + ")");
        }
        for (TenantGpu gpu : after.gpus()) {
            if (change.names(Limit.MEMORY) && gpu.totalBytes() != 0 && gpu.limitBytes() > gpu.totalBytes()) {
                lines.add(after.name() + ": " + Size.format(gpu.limitBytes()) + " is more than GPU " + gpu.index() + " has ("
                        + Size.format(gpu.totalBytes()) + "): it limits nothing there");
            }
        }
        for (TenantGpu gpu : over(after)) {
            lines.add(after.name() + " uses " + Size.format(gpu.usedBytes()) + " on GPU " + gpu.index()
                    + " now: nothing new is granted until it is below " + Size.format(gpu.limitBytes()));
        }
        return lines;
    }

    private static List<TenantGpu> over(Tenant tenant) {
        return tenant.gpus().stream().filter(gpu -> gpu.limitBytes() != 0 && gpu.usedBytes() > gpu.limitBytes()).toList();
    }

    public static void writeJson(PrintWriter out, Tenant tenant) {
        Json.write(out, json -> {
            json.writeStartObject();
            json.writeStringProperty("tenant", tenant.name());
            json.writeNumberProperty("limitsEpoch", tenant.limitsEpoch());
            LimitsJson.write(json, tenant.limits());
            json.writeArrayPropertyStart("overLimit");
            for (TenantGpu gpu : over(tenant)) {
                json.writeStartObject();
                json.writeNumberProperty("gpu", gpu.index());
                json.writeNumberProperty("usedBytes", gpu.usedBytes());
                json.writeNumberProperty("limitBytes", gpu.limitBytes());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }
}
