package sluice.agent.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import sluice.api.json.JsonBytes;
import tools.jackson.core.JsonGenerator;

/// What a route answers: a whole body, or a stream that goes on until one side ends it.
public sealed interface Answer {
    String JSON = "application/json";

    /// @param headers further ones; length and type are added
    record Whole(int status, String type, byte[] body, Map<String, String> headers) implements Answer {}

    /// @param start is given the way to the client, and returns at once
    record Stream(String type, Consumer<Sink> start) implements Answer {}

    /// The way to one client of a stream. May be used from any thread.
    interface Sink {
        /// Sends bytes, unless the client still has others to read that came this way: then nothing is sent, and false comes
        /// back. For what the next message replaces.
        boolean offer(byte[] bytes);

        /// Sends bytes after all others. A client that lets too many pile up is cut off.
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

    /// What went wrong, as `{"error": "what, which value, what to do"}`.
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
