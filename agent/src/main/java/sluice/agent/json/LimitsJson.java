package sluice.agent.json;

import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import tools.jackson.core.JsonGenerator;

/// Limits for scripts, as in the region: bytes and thousandths by GPU, microseconds, milliseconds. [Limit#field] says where each is.
public final class LimitsJson {
    private LimitsJson() {}

    /// All but `onError`, which does not change.
    public static void write(JsonGenerator json, Limits limits) {
        json.writeStringProperty("onOom", limits.onOom().waits() ? "wait" : "fail");
        json.writeNumberProperty("oomWaitMillis", limits.onOom().waitMillis());
        json.writeArrayPropertyStart("memoryLimitBytes");
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            json.writeNumber(limits.memory().bytes(gpu));
        }
        json.writeEndArray();
        compute(json, limits.compute());
    }

    private static void compute(JsonGenerator json, ComputeLimits limits) {
        json.writeObjectPropertyStart("compute");
        json.writeArrayPropertyStart("capPermille");
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            json.writeNumber(limits.caps().permille(gpu));
        }
        json.writeEndArray();
        json.writeBooleanProperty("turns", limits.turns());
        json.writeNumberProperty("weight", limits.weight());
        json.writeStringProperty("priority", limits.priority().word());
        json.writeBooleanProperty("exclusive", limits.exclusive());
        json.writeNumberProperty("turnMicros", limits.turnMicros());
        json.writeEndObject();
    }

    /// Those of a tenant.
    static Limits parse(JsonTree json) {
        long[] bytes = json.at("memoryLimitBytes").elements().stream().mapToLong(JsonTree::number).toArray();
        return new Limits(MemoryLimits.of(bytes), compute(json.at("compute")), new OnOom((int) json.at("oomWaitMillis").number()),
                OnError.parse(json.at("onError").text()));
    }

    private static ComputeLimits compute(JsonTree json) {
        int[] caps = json.at("capPermille").elements().stream().mapToInt(cap -> (int) cap.number()).toArray();
        return new ComputeLimits(ComputeCaps.of(caps), json.at("turns").isTrue(), (int) json.at("weight").number(),
                Priority.parse(json.at("priority").text()), json.at("exclusive").isTrue(), (int) json.at("turnMicros").number());
    }

    /// The table of limits: what there is, how it is written, and where a tenant's JSON has it.
    public static void table(JsonGenerator json) {
        json.writeStartObject();
        json.writeArrayPropertyStart("limits");
        for (Limit limit : Limit.values()) {
            json.writeStartObject();
            json.writeStringProperty("name", limit.word());
            json.writeStringProperty("title", limit.title());
            json.writeStringProperty("variable", limit.variable());
            json.writeStringProperty("meaning", limit.runHelp());
            json.writeStringProperty("examples", limit.examples());
            json.writeStringProperty("kind", limit.kind().word());
            json.writeStringProperty("unit", limit.kind().unit());
            json.writeBooleanProperty("byGpu", limit.kind().isByGpu());
            json.writeBooleanProperty("ofTurns", limit.isOfTurns());
            json.writeBooleanProperty("changeable", limit.isChangeable());
            json.writeArrayPropertyStart("choices");
            limit.choices().forEach(json::writeString);
            json.writeEndArray();
            json.writeStringProperty("field", limit.field());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
