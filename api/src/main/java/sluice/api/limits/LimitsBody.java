package sluice.api.limits;

import java.util.EnumMap;
import java.util.Map;
import sluice.api.json.JsonBytes;
import sluice.region.LimitsChange;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// New limits as JSON: the names of the options of `sluice set`, and the values that they take, as in
/// `{"memory": "6g", "compute": "50%", "weight": 3}`.
public final class LimitsBody {
    private static final String NAMES = String.join(", ", Limit.words(Limit.changeable()));

    private LimitsBody() {}

    public static LimitsChange parse(byte[] body) {
        LimitsChange change = new LimitsChange(read(body));
        if (change.isEmpty()) {
            throw new SluiceException("nothing to set; give " + NAMES);
        }
        return change;
    }

    /// The words of a body; their values may be invalid.
    public static Map<Limit, String> read(byte[] body) {
        Map<Limit, String> given = new EnumMap<>(Limit.class);
        try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), body)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new SluiceException("limits are a JSON object, as in {\"memory\": \"6g\"}");
            }
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.currentName();
                Limit limit = Limit.of(name).filter(Limit::isChangeable)
                        .orElseThrow(() -> new SluiceException("there is no limit '" + name + "'; give " + NAMES));
                JsonToken value = json.nextToken();
                if (!value.isScalarValue() || value == JsonToken.VALUE_NULL || given.put(limit, json.getString()) != null) {
                    throw new SluiceException(name + " must have one value, as for 'sluice set --" + name + "'");
                }
            }
        } catch (JacksonException e) {
            throw new SluiceException("the body is no JSON object; write {\"memory\": \"6g\"}", e);
        }
        return given;
    }

    /// The form that a body must have, for error messages.
    public static byte[] write(LimitsChange change) {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            change.words().forEach((limit, value) -> json.writeStringProperty(limit.word(), value));
            json.writeEndObject();
        });
    }
}
