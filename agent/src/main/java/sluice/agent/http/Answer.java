package sluice.agent.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import sluice.api.json.JsonBytes;
import tools.jackson.core.JsonGenerator;

/// The answer of a route: a whole body, or a stream that goes on until one side ends it.
public sealed interface Answer {
    String JSON = "application/json";

    /// @param headers further ones; length and type are added
    record Whole(int status, String type, byte[] body, Map<String, String> headers) implements Answer {}

    /// @param start receives the channel to the client, and returns at once
    record Stream(String type, Consumer<Sink> start) implements Answer {}

    /// The channel to one client of a stream. Any thread may use it.
    interface Sink {
        /// Sends bytes, unless the client still has earlier ones of this method to read: then sends nothing, and returns false. For
        /// messages that the next message replaces.
        boolean offer(byte[] bytes);

        /// Sends bytes after all earlier ones. Closes the connection if the client has too many to read.
        void send(byte[] bytes);

        void whenClosed(Runnable action);
    }

    static Answer of(String type, byte[] body) {
        return new Whole(200, type, body, Map.of());
    }

    static Answer json(Consumer<JsonGenerator> content) {
        return of(JSON, JsonBytes.of(content));
    }

    static Answer json(byte[] body) {
        return of(JSON, body);
    }

    /// An error, as `{"error": "what, which value, what to do"}`.
    static Answer error(int status, String text) {
        return new Whole(status, JSON, JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeStringProperty("error", text);
            json.writeEndObject();
        }), Map.of());
    }

    static Answer text(String text) {
        return of("text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }
}
