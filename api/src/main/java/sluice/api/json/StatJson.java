package sluice.api.json;

import java.util.List;
import java.util.Optional;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.Tenant;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;
import tools.jackson.core.JsonGenerator;

/// A tenant's counters for scripts: bytes and nanoseconds. `counted` is false if the library did not count calls; then sums are left out.
/// The time of a function is left out if none of its calls was timed.
public final class StatJson {
    private StatJson() {}

    private record Stat(Tenant tenant, TenantCalls calls) {
        List<SeenGpu> gpus() {
            return tenant.gpus().stream().map(gpu -> new SeenGpu(tenant, gpu, EarlierLook.NONE, OnBoards.NONE)).toList();
        }

        Optional<Traffic> traffic() {
            return calls.known() ? Optional.of(calls.traffic()) : Optional.empty();
        }
    }

    public static void write(JsonGenerator json, Tenant tenant, TenantCalls calls) {
        JsonProperties.writeObject(json, new Stat(tenant, calls), StatJson::describe);
    }

    /// The counters; the rest of the document is for people and scripts.
    public static TenantCalls read(JsonTree json) {
        return JsonProperties.read(json, StatJson::describe);
    }

    private static TenantCalls describe(JsonProperties<Stat> at) {
        at.also((json, stat) -> {
            json.writeStringProperty("tenant", stat.tenant().name());
            json.writeBooleanProperty("running", stat.tenant().state().lives());
            json.writeStringProperty("state", stat.tenant().state().word());
            json.writeStringProperty("command", stat.tenant().command());
        });
        boolean counted = at.flag("counted", stat -> stat.calls().known());
        at.also((json, stat) -> {
            if (stat.calls().known()) {
                sums(json, stat.calls());
            }
        });
        Traffic traffic = at.objectIf("copied", Stat::traffic, StatJson::traffic).orElse(new Traffic(0, 0, 0, 0, 0, 0));
        at.also((json, stat) -> JsonProperties.writeObjects(json, "gpus", stat.gpus(), StatJson::gpu));
        return new TenantCalls(counted, System.nanoTime(), at.objects("functions", stat -> stat.calls().counts(), StatJson::function), traffic);
    }

    private static void sums(JsonGenerator json, TenantCalls calls) {
        json.writeNumberProperty("calls", calls.calls());
        json.writeNumberProperty("failed", calls.failed());
        json.writeNumberProperty("nanos", calls.nanos());
        json.writeNumberProperty("kernels", calls.done(CallKind.KERNEL));
        json.writeNumberProperty("graphs", calls.done(CallKind.GRAPH));
        json.writeNumberProperty("allocations", calls.done(CallKind.ALLOCATION));
        json.writeNumberProperty("allocatedBytes", calls.bytes(CallKind.ALLOCATION));
    }

    private static Traffic traffic(JsonProperties<Traffic> at) {
        return new Traffic(at.number("toGpuBytes", Traffic::toGpuBytes), at.number("fromGpuBytes", Traffic::fromGpuBytes),
                at.number("onGpuBytes", Traffic::onGpuBytes), at.number("betweenGpusBytes", Traffic::betweenGpusBytes),
                at.number("hostBytes", Traffic::hostBytes), at.number("otherBytes", Traffic::otherBytes));
    }

    private static Object gpu(JsonProperties<SeenGpu> at) {
        at.also((json, seen) -> {
            json.writeNumberProperty("gpu", seen.gpu().index());
            json.writeStringProperty("uuid", seen.gpu().uuid());
            json.writeNumberProperty("usedBytes", seen.gpu().usedBytes());
            json.writeNumberProperty("limitBytes", seen.gpu().limitBytes());
            json.writeNumberProperty("peakBytes", seen.gpu().peakBytes());
            json.writeNumberProperty("refusedCalls", seen.gpu().refusedCalls());
        });
        return at.object("time", seen -> seen, ShareJson::time);
    }

    private static CallCount function(JsonProperties<CallCount> at) {
        String name = at.text("name", CallCount::name);
        return new CallCount(name, CallKind.named(name), at.number("calls", CallCount::calls), at.number("failed", CallCount::failed),
                at.number("timedCalls", CallCount::timedCalls), at.numberIf(StatJson::timed, "nanos", CallCount::nanos),
                at.numberIf(StatJson::timed, "longestNanos", CallCount::longestNanos), at.number("bytes", CallCount::bytes));
    }

    private static boolean timed(CallCount count) {
        return count.timedCalls() > 0;
    }
}
