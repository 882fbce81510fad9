package sluice.agent.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/// The OpenAPI document, made from the table of routes.
public final class OpenApi {
    private static final Pattern PART = Pattern.compile("\\{([a-z]+)}");

    private OpenApi() {}

    public static void write(JsonGenerator json, List<Route> routes) {
        Map<String, List<Route>> paths = new LinkedHashMap<>();
        routes.forEach(route -> paths.merge(route.pattern(), List.of(route), (before, more) ->
                Stream.concat(before.stream(), more.stream()).toList()));
        json.writeStartObject();
        json.writeStringProperty("openapi", "3.1.0");
        json.writeObjectPropertyStart("info");
        json.writeStringProperty("title", "Sluice agent");
        json.writeStringProperty("version", "1");
        json.writeStringProperty("description", "GPUs of a machine and the tenants that share them. Bytes are numbers, moments are nanoseconds "
                + "since 1970, a limit of 0 is no limit. Errors are {\"error\": \"what, which value, what to do\"}.");
        json.writeEndObject();
        json.writeObjectPropertyStart("paths");
        paths.forEach((pattern, methods) -> {
            json.writeObjectPropertyStart(pattern);
            methods.forEach(route -> route(json, route));
            json.writeEndObject();
        });
        json.writeEndObject();
        token(json);
        json.writeEndObject();
    }

    private static void route(JsonGenerator json, Route route) {
        json.writeObjectPropertyStart(route.method().toLowerCase(Locale.ROOT));
        json.writeStringProperty("summary", route.summary());
        json.writeArrayPropertyStart("parameters");
        Matcher parts = PART.matcher(route.pattern());
        while (parts.find()) {
            parameter(json, parts.group(1), "path", "");
        }
        route.parameters().forEach(parameter -> parameter(json, parameter.name(), "query", parameter.summary()));
        json.writeEndArray();
        if (route.writes()) {
            json.writeArrayPropertyStart("security");
            json.writeStartObject();
            json.writeArrayPropertyStart("token");
            json.writeEndArray();
            json.writeEndObject();
            json.writeEndArray();
        }
        json.writeObjectPropertyStart("responses");
        response(json, "200", "as the summary says");
        response(json, "default", "an error");
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void parameter(JsonGenerator json, String name, String place, String summary) {
        json.writeStartObject();
        json.writeStringProperty("name", name);
        json.writeStringProperty("in", place);
        json.writeBooleanProperty("required", place.equals("path"));
        if (!summary.isEmpty()) {
            json.writeStringProperty("description", summary);
        }
        json.writeObjectPropertyStart("schema");
        json.writeStringProperty("type", "string");
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void response(JsonGenerator json, String status, String summary) {
        json.writeObjectPropertyStart(status);
        json.writeStringProperty("description", summary);
        json.writeEndObject();
    }

    private static void token(JsonGenerator json) {
        json.writeObjectPropertyStart("components");
        json.writeObjectPropertyStart("securitySchemes");
        json.writeObjectPropertyStart("token");
        json.writeStringProperty("type", "http");
        json.writeStringProperty("scheme", "bearer");
        json.writeStringProperty("description", "Needed on the port for what changes anything; not on the Unix socket.");
        json.writeEndObject();
        json.writeEndObject();
        json.writeEndObject();
    }
}
