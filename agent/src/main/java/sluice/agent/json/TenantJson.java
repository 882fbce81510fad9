package sluice.agent.json;

import java.util.List;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.layout.RegionLayout;
import tools.jackson.core.JsonGenerator;

/// Tenants for scripts. Bytes are numbers, moments are nanoseconds since 1970, a limit of 0 is no limit.
public final class TenantJson {
    private TenantJson() {}

    /// All of them, as one object.
    public static void write(JsonGenerator json, List<Tenant> tenants, EarlierLook earlier, OnBoards boards) {
        json.writeStartObject();
        json.writeArrayPropertyStart("tenants");
        tenants.forEach(tenant -> write(json, tenant, earlier, boards));
        json.writeEndArray();
        json.writeEndObject();
    }

    public static void write(JsonGenerator json, Tenant tenant, EarlierLook earlier, OnBoards boards) {
        json.writeStartObject();
        properties(json, tenant, new ShareJson(json, earlier, boards));
        json.writeEndObject();
    }

    public static void properties(JsonGenerator json, Tenant tenant, ShareJson shares) {
        json.writeStringProperty("tenant", tenant.name());
        json.writeBooleanProperty("running", tenant.running());
        json.writeStringProperty("command", tenant.command());
        json.writeStringProperty("region", tenant.file().toString());
        json.writeNumberProperty("layout", RegionLayout.LAYOUT);
        json.writeNumberProperty("createdNanos", tenant.createdNanos());
        json.writeNumberProperty("rootPid", tenant.root().pid());
        json.writeNumberProperty("rootStartTicks", tenant.root().startTicks());
        json.writeNumberProperty("uid", tenant.uid());
        json.writeStringProperty("onError", tenant.limits().onError().word());
        json.writeNumberProperty("limitsEpoch", tenant.limitsEpoch());
        LimitsJson.write(json, tenant.limits());
        json.writeArrayPropertyStart("gpus");
        tenant.gpus().forEach(gpu -> gpu(json, tenant, gpu, shares));
        json.writeEndArray();
        json.writeArrayPropertyStart("processes");
        tenant.processes().forEach(process -> process(json, process, tenant));
        json.writeEndArray();
        json.writeArrayPropertyStart("errors");
        tenant.errors().forEach(error -> error(json, error));
        json.writeEndArray();
    }

    private static void gpu(JsonGenerator json, Tenant tenant, TenantGpu gpu, ShareJson shares) {
        json.writeStartObject();
        json.writeNumberProperty("gpu", gpu.index());
        json.writeStringProperty("uuid", gpu.uuid());
        json.writeStringProperty("name", gpu.name());
        json.writeNumberProperty("granularityBytes", gpu.granularityBytes());
        json.writeNumberProperty("totalBytes", gpu.totalBytes());
        json.writeNumberProperty("usedBytes", gpu.usedBytes());
        uses(json, gpu.uses());
        json.writeNumberProperty("limitBytes", gpu.limitBytes());
        json.writeNumberProperty("peakBytes", gpu.peakBytes());
        json.writeNumberProperty("refusedCalls", gpu.refusedCalls());
        json.writeNumberProperty("lastRefusedBytes", gpu.lastRefusedBytes());
        shares.write(tenant, gpu);
        json.writeEndObject();
    }

    private static void process(JsonGenerator json, TenantProcess process, Tenant tenant) {
        json.writeStartObject();
        json.writeNumberProperty("slot", process.slot());
        json.writeNumberProperty("pid", process.identity().pid());
        json.writeNumberProperty("startTicks", process.identity().startTicks());
        json.writeBooleanProperty("alive", process.alive());
        json.writeNumberProperty("attachedNanos", process.attachedNanos());
        json.writeNumberProperty("calls", process.calls());
        json.writeNumberProperty("passedCalls", process.passedCalls());
        json.writeStringProperty("commandLine", process.commandLine());
        json.writeArrayPropertyStart("accounts");
        for (int at = 0; at < process.charges().size(); at++) {
            account(json, process.charges().get(at), tenant.gpus().get(at).index());
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void account(JsonGenerator json, TenantProcess.Charge charge, int gpu) {
        json.writeStartObject();
        json.writeNumberProperty("gpu", gpu);
        json.writeNumberProperty("chargedBytes", charge.chargedBytes());
        json.writeNumberProperty("inFlightBytes", charge.inFlightBytes());
        uses(json, charge.uses());
        json.writeNumberProperty("allocations", charge.allocations());
        json.writeNumberProperty("allocationsTotal", charge.allocationsTotal());
        json.writeEndObject();
    }

    private static void uses(JsonGenerator json, MemoryUses uses) {
        json.writeObjectPropertyStart("uses");
        uses.byName().forEach((use, bytes) -> json.writeNumberProperty(use + "Bytes", bytes));
        json.writeEndObject();
    }

    private static void error(JsonGenerator json, TenantError error) {
        json.writeStartObject();
        json.writeStringProperty("text", error.text());
        json.writeNumberProperty("count", error.count());
        json.writeNumberProperty("firstNanos", error.firstNanos());
        json.writeNumberProperty("lastNanos", error.lastNanos());
        json.writeNumberProperty("pid", error.pid());
        json.writeEndObject();
    }
}
