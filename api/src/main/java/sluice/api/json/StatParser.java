package sluice.api.json;

import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;

/// Reads what [StatJson] writes of a tenant's calls.
public final class StatParser {
    private StatParser() {}

    public static TenantCalls calls(JsonTree json) {
        return new TenantCalls(json.at("counted").isTrue(), System.nanoTime(),
                json.at("functions").elements().stream().map(StatParser::function).toList(), json.has("copied") ? traffic(json.at("copied")) : new Traffic(0, 0, 0, 0, 0, 0));
    }

    private static CallCount function(JsonTree json) {
        return new CallCount(json.at("name").text(), CallKind.named(json.at("name").text()), json.at("calls").number(),
                json.at("failed").number(), json.at("timedCalls").number(), json.numberOrZero("nanos"), json.numberOrZero("longestNanos"),
                json.at("bytes").number());
    }

    private static Traffic traffic(JsonTree json) {
        return new Traffic(json.at("toGpuBytes").number(), json.at("fromGpuBytes").number(), json.at("onGpuBytes").number(),
                json.at("betweenGpusBytes").number(), json.at("hostBytes").number(), json.at("otherBytes").number());
    }
}
