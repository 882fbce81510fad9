package sluice.kubernetes.cluster;

import java.util.List;
import java.util.Map;
import sluice.api.json.JsonBytes;
import tools.jackson.core.JsonGenerator;

/// JSON made of maps, lists, texts, numbers and booleans.
public final class JsonObject {
    private JsonObject() {}

    public static byte[] bytes(Map<String, Object> object) {
        return JsonBytes.of(json -> write(json, object));
    }

    public static byte[] list(List<?> values) {
        return JsonBytes.of(json -> write(json, values));
    }

    private static void write(JsonGenerator json, Object value) {
        switch (value) {
            case Map<?, ?> object -> {
                json.writeStartObject();
                object.forEach((name, part) -> {
                    json.writeName(name.toString());
                    write(json, part);
                });
                json.writeEndObject();
            }
            case List<?> list -> {
                json.writeStartArray();
                list.forEach(part -> write(json, part));
                json.writeEndArray();
            }
            case Boolean flag -> json.writeBoolean(flag);
            case Number number -> json.writeNumber(number.longValue());
            case null -> json.writeNull();
            default -> json.writeString(value.toString());
        }
    }
}
