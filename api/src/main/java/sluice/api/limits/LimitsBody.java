package sluice.api.limits;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import sluice.api.json.JsonBytes;
import sluice.region.LimitsChange;
import sluice.region.limits.CapsChange;
import sluice.region.limits.ComputeChange;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryChange;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;
import sluice.region.place.SluiceException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// New limits as JSON: the names of the options of `sluice set`, and the values that they take, as in
/// `{"memory": "6g", "compute": "50%", "weight": 3}`.
public final class LimitsBody {
    private static final List<String> NAMES = List.of("memory", "on-oom", "compute", "weight", "priority", "exclusive", "turn");
    private static final String NONE = "none";

    private LimitsBody() {}

    public static LimitsChange parse(byte[] body) {
        Map<String, String> given = read(body);
        LimitsChange change = new LimitsChange(value(given, "memory", MemoryChange::parse), value(given, "on-oom", OnOom::parse),
                new ComputeChange(value(given, "compute", CapsChange::parse),
                        value(given, "weight", text -> text.equals(NONE) ? 0 : ComputeLimits.parseWeight(text)),
                        value(given, "priority", Priority::parse), value(given, "exclusive", ComputeLimits::parseExclusive),
                        value(given, "turn", text -> text.equals(NONE) ? 0 : TurnLength.parse(text))));
        if (change.isEmpty()) {
            throw new SluiceException("nothing to set; give " + String.join(", ", NAMES));
        }
        return change;
    }

    private static <T> Optional<T> value(Map<String, String> given, String name, Function<String, T> parser) {
        return Optional.ofNullable(given.get(name)).map(parser);
    }

    public static Map<String, String> read(byte[] body) {
        Map<String, String> given = new HashMap<>();
        try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), body)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new SluiceException("limits are a JSON object, as in {\"memory\": \"6g\"}");
            }
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.currentName();
                if (!NAMES.contains(name)) {
                    throw new SluiceException("there is no limit '" + name + "'; give " + String.join(", ", NAMES));
                }
                JsonToken value = json.nextToken();
                if (!value.isScalarValue() || value == JsonToken.VALUE_NULL || given.put(name, json.getString()) != null) {
                    throw new SluiceException(name + " must have one value, as for 'sluice set --" + name + "'");
                }
            }
        } catch (JacksonException e) {
            throw new SluiceException("the body is no JSON object; write {\"memory\": \"6g\"}", e);
        }
        return given;
    }

    /// What a body must be to mean this.
    public static byte[] write(Map<String, String> values) {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            values.forEach(json::writeStringProperty);
            json.writeEndObject();
        });
    }

    /// The GPUs that a change is for; empty when it is for all.
    public static SortedSet<Integer> named(LimitsChange change) {
        SortedSet<Integer> named = new TreeSet<>(change.memory().map(MemoryChange::named).orElse(List.of()));
        named.addAll(change.compute().caps().map(CapsChange::named).orElse(List.of()));
        return named;
    }
}
