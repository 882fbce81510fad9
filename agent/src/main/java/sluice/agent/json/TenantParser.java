package sluice.agent.json;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.place.Identity;

/// Reads what [TenantJson] writes.
public final class TenantParser {
    private TenantParser() {}

    public static Tenant tenant(JsonTree json) {
        List<TenantGpu> gpus = new ArrayList<>();
        json.at("gpus").elements().forEach(gpu -> gpus.add(gpu(gpu, gpus.size())));
        return new Tenant(Path.of(json.at("region").text()), json.at("tenant").text(), json.at("command").text(),
                json.at("running").isTrue(), identity(json.at("rootPid"), json.at("rootStartTicks")), json.at("createdNanos").number(),
                json.at("uid").number(), json.at("limitsEpoch").number(), LimitsJson.parse(json),
                List.copyOf(gpus), json.at("processes").elements().stream().map(TenantParser::process).toList(),
                json.at("errors").elements().stream().map(TenantParser::error).toList());
    }

    private static Identity identity(JsonTree pid, JsonTree startTicks) {
        return Identity.of(pid.number(), startTicks.number());
    }

    private static TenantGpu gpu(JsonTree json, int entry) {
        return new TenantGpu(entry, (int) json.at("gpu").number(), json.at("uuid").text(), json.at("name").text(),
                json.at("granularityBytes").number(), json.at("totalBytes").number(), json.at("usedBytes").number(), uses(json.at("uses")),
                json.at("limitBytes").number(), json.at("peakBytes").number(), json.at("refusedCalls").number(),
                json.at("lastRefusedBytes").number(), time(json.at("time")));
    }

    /// Spans are turned back into moments: the clock is that of the machine, and so the agent's too.
    private static GpuTime time(JsonTree json) {
        long now = System.nanoTime();
        long since = json.numberOrZero("sinceNanos");
        return new GpuTime(now, (int) json.at("capPermille").number(), since == 0 ? 0 : now - since, now + json.at("repayNanos").number(),
                json.numberOrZero("usedNanos"), json.numberOrZero("submittedCalls"), json.numberOrZero("unmeteredCalls"),
                json.at("capWaits").number(), json.at("capWaitedNanos").number(), json.at("turnWaits").number(),
                json.at("turnWaitedNanos").number(), json.at("roomWaits").number(), json.at("roomWaitedNanos").number(),
                json.at("memoryWaits").number(), json.at("memoryWaitedNanos").number());
    }

    private static MemoryUses uses(JsonTree json) {
        return new MemoryUses(json.at("linearBytes").number(), json.at("managedBytes").number(), json.at("poolBytes").number(),
                json.at("physicalBytes").number(), json.at("arrayBytes").number(), json.at("graphBytes").number(),
                json.at("contextBytes").number(), json.at("overheadBytes").number());
    }

    private static TenantProcess process(JsonTree json) {
        List<TenantProcess.Charge> charges = new ArrayList<>();
        json.at("accounts").elements().forEach(account -> charges.add(new TenantProcess.Charge(charges.size(),
                account.at("chargedBytes").number(), account.at("inFlightBytes").number(), uses(account.at("uses")),
                account.at("allocations").number(), account.at("allocationsTotal").number())));
        return new TenantProcess((int) json.at("slot").number(), identity(json.at("pid"), json.at("startTicks")), json.at("alive").isTrue(),
                json.at("attachedNanos").number(), json.at("calls").number(), json.at("passedCalls").number(), List.copyOf(charges),
                json.at("commandLine").text());
    }

    private static TenantError error(JsonTree json) {
        return new TenantError(json.at("text").text(), json.at("count").number(), json.at("firstNanos").number(),
                json.at("lastNanos").number(), json.at("pid").number());
    }
}
