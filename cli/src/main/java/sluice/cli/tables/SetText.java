package sluice.cli.tables;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import sluice.api.json.TenantJson;
import sluice.cli.output.Json;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.Size;

/// What `sluice set` did.
public final class SetText {
    private SetText() {}

    public static List<String> lines(Tenant before, Tenant after, LimitsChange change) {
        List<String> lines = new ArrayList<>();
        if (change.memory().isPresent()) {
            lines.add(after.name() + ": memory " + after.limits() + " (was " + before.limits() + ")");
        }
        if (change.onOom().isPresent()) {
            lines.add(after.name() + ": over the quota " + after.onOom() + " (was " + before.onOom() + ")");
        }
        if (change.compute().caps().isPresent()) {
            lines.add(after.name() + ": compute " + after.compute().caps() + " (was " + before.compute().caps() + ")");
        }
        if (change.compute().isOfTurns()) {
            lines.add(after.name() + ": turns: " + ShareText.turns(after.compute()) + " (was " + ShareText.turns(before.compute()) + ")");
        }
        for (TenantGpu gpu : after.gpus()) {
            if (change.memory().isPresent() && gpu.totalBytes() != 0 && gpu.limitBytes() > gpu.totalBytes()) {
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
            json.writeStringProperty("onOom", tenant.onOom().waits() ? "wait" : "fail");
            json.writeNumberProperty("oomWaitMillis", tenant.onOom().waitMillis());
            json.writeArrayPropertyStart("memoryLimitBytes");
            for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
                json.writeNumber(tenant.limits().bytes(gpu));
            }
            json.writeEndArray();
            TenantJson.compute(json, tenant.compute());
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
