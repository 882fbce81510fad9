package sluice.agent.json;

import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;
import tools.jackson.core.JsonGenerator;

/// A tenant's counters for scripts: bytes and nanoseconds; `counted` is false where nobody counted calls, and then sums are left out; so is
/// the time of a function of which no call was timed.
public final class StatJson {
    private StatJson() {}

    public static void write(JsonGenerator json, Tenant tenant, TenantCalls calls) {
        json.writeStartObject();
        json.writeStringProperty("tenant", tenant.name());
        json.writeBooleanProperty("running", tenant.state().lives());
        json.writeStringProperty("state", tenant.state().word());
        json.writeStringProperty("command", tenant.command());
        json.writeBooleanProperty("counted", calls.known());
        if (calls.known()) {
            sums(json, calls);
        }
        json.writeArrayPropertyStart("gpus");
        tenant.gpus().forEach(gpu -> gpu(json, tenant, gpu));
        json.writeEndArray();
        json.writeArrayPropertyStart("functions");
        calls.counts().forEach(count -> function(json, count));
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void sums(JsonGenerator json, TenantCalls calls) {
        json.writeNumberProperty("calls", calls.calls());
        json.writeNumberProperty("failed", calls.failed());
        json.writeNumberProperty("nanos", calls.nanos());
        json.writeNumberProperty("kernels", calls.done(CallKind.KERNEL));
        json.writeNumberProperty("graphs", calls.done(CallKind.GRAPH));
        json.writeNumberProperty("allocations", calls.done(CallKind.ALLOCATION));
        json.writeNumberProperty("allocatedBytes", calls.bytes(CallKind.ALLOCATION));
        traffic(json, calls.traffic());
    }

    private static void traffic(JsonGenerator json, Traffic traffic) {
        json.writeObjectPropertyStart("copied");
        json.writeNumberProperty("toGpuBytes", traffic.toGpuBytes());
        json.writeNumberProperty("fromGpuBytes", traffic.fromGpuBytes());
        json.writeNumberProperty("onGpuBytes", traffic.onGpuBytes());
        json.writeNumberProperty("betweenGpusBytes", traffic.betweenGpusBytes());
        json.writeNumberProperty("hostBytes", traffic.hostBytes());
        json.writeNumberProperty("otherBytes", traffic.otherBytes());
        json.writeEndObject();
    }

    private static void gpu(JsonGenerator json, Tenant tenant, TenantGpu gpu) {
        json.writeStartObject();
        json.writeNumberProperty("gpu", gpu.index());
        json.writeStringProperty("uuid", gpu.uuid());
        json.writeNumberProperty("usedBytes", gpu.usedBytes());
        json.writeNumberProperty("limitBytes", gpu.limitBytes());
        json.writeNumberProperty("peakBytes", gpu.peakBytes());
        json.writeNumberProperty("refusedCalls", gpu.refusedCalls());
        new ShareJson(json, EarlierLook.NONE, OnBoards.NONE).write(tenant, gpu);
        json.writeEndObject();
    }

    private static void function(JsonGenerator json, CallCount count) {
        json.writeStartObject();
        json.writeStringProperty("name", count.name());
        json.writeNumberProperty("calls", count.calls());
        json.writeNumberProperty("failed", count.failed());
        json.writeNumberProperty("timedCalls", count.timedCalls());
        if (count.timedCalls() > 0) {
            json.writeNumberProperty("nanos", count.nanos());
            json.writeNumberProperty("longestNanos", count.longestNanos());
        }
        json.writeNumberProperty("bytes", count.bytes());
        json.writeEndObject();
    }
}
