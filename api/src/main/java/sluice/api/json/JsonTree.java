package sluice.api.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.region.place.SluiceException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// JSON that was read, for code that knows its structure. A value that is missing or of another kind is an error of its writer.
///
/// @param value a map, a list, a string, a number, a boolean, or null
public record JsonTree(Object value) {

    public static JsonTree parse(byte[] text) {
        try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
            return new JsonTree(value(json, json.nextToken()));
        } catch (JacksonException e) {
            throw new SluiceException("this is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static Object value(JsonParser json, JsonToken token) {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                    object.put(json.currentName(), value(json, json.nextToken()));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<Object> array = new ArrayList<>();
                for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
                    array.add(value(json, next));
                }
                yield array;
            }
            case VALUE_NUMBER_INT -> json.getLongValue();
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_STRING -> json.getString();
            case null, default -> null;
        };
    }

    public JsonTree at(String name) {
        return new JsonTree(value instanceof Map<?, ?> object ? object.get(name) : null);
    }

    public boolean has(String name) {
        return value instanceof Map<?, ?> object && object.get(name) != null;
    }

    public List<JsonTree> elements() {
        return value instanceof List<?> array ? array.stream().map(JsonTree::new).toList() : missing("a list");
    }

    public String text() {
        return value instanceof String text ? text : missing("a text");
    }

    public long number() {
        return value instanceof Number number ? number.longValue() : this.<Long>missing("a number");
    }

    /// 0 for a number that is left out.
    public long numberOrZero(String name) {
        return has(name) ? at(name).number() : 0;
    }

    public boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    private <T> T missing(String wanted) {
        throw new SluiceException("the agent answered " + value + " where " + wanted + " must be; use the same version of both");
    }
}
