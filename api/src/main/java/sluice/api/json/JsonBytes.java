package sluice.api.json;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/// JSON on one line, as UTF-8.
public final class JsonBytes {
    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonBytes() {}

    public static byte[] of(Consumer<JsonGenerator> content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
            content.accept(json);
        }
        return bytes.toByteArray();
    }
}
