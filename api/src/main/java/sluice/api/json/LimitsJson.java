package sluice.api.json;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.HostLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import tools.jackson.core.JsonGenerator;

/// Limits for scripts, as in the region: bytes and thousandths by GPU, microseconds, milliseconds. [Limit#field] is the place of each.
public final class LimitsJson {
    private LimitsJson() {}

    /// Into an object that is open: all but `onError`, which does not change.
    public static void write(JsonGenerator json, Limits limits) {
        JsonProperties.write(json, limits, at -> {
            OnOom onOom = onOom(at, Function.identity());
            return new Limits(memory(at, Function.identity()), compute(at, Function.identity()), onOom, limits.onError(), host(at, Function.identity()));
        });
    }

    static <S> OnOom onOom(JsonProperties<S> at, Function<S, Limits> limits) {
        at.also((json, subject) -> json.writeStringProperty("onOom", limits.apply(subject).onOom().waits() ? "wait" : "fail"));
        return new OnOom(at.count("oomWaitMillis", subject -> limits.apply(subject).onOom().waitMillis()));
    }

    static <S> MemoryLimits memory(JsonProperties<S> at, Function<S, Limits> limits) {
        return MemoryLimits.of(at.numbers("memoryLimitBytes", subject -> byGpu(limits.apply(subject).memory()::bytes)));
    }

    static <S> ComputeLimits compute(JsonProperties<S> at, Function<S, Limits> limits) {
        return at.object("compute", subject -> limits.apply(subject).compute(), LimitsJson::compute);
    }

    private static ComputeLimits compute(JsonProperties<ComputeLimits> at) {
        long[] caps = at.numbers("capPermille", limits -> byGpu(limits.caps()::permille));
        return new ComputeLimits(ComputeCaps.of(IntStream.range(0, caps.length).map(gpu -> (int) caps[gpu]).toArray()),
                at.flag("turns", ComputeLimits::turns), at.count("weight", ComputeLimits::weight),
                Priority.parse(at.text("priority", limits -> limits.priority().word())), at.flag("exclusive", ComputeLimits::exclusive),
                at.count("turnMicros", ComputeLimits::turnMicros), at.flagIf("strict", ComputeLimits::strict));
    }

    /// Documents of earlier versions have none.
    static <S> HostLimits host(JsonProperties<S> at, Function<S, Limits> limits) {
        return at.objectIf("host", subject -> Optional.of(limits.apply(subject).host()), LimitsJson::host).orElse(HostLimits.NONE);
    }

    private static HostLimits host(JsonProperties<HostLimits> at) {
        return new HostLimits(at.flag("mapped", HostLimits::mapped), at.number("reservoirBytes", HostLimits::reservoirBytes),
                at.number("preparedBytes", HostLimits::preparedBytes));
    }

    private static long[] byGpu(IntToLongFunction limit) {
        return IntStream.range(0, MemoryLimits.GPUS).mapToLong(limit).toArray();
    }

    /// The table of limits: each limit, how people write it, and its place in a tenant's JSON.
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
