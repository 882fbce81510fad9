package sluice.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/// What JSON says, value by value.
public final class JsonValues {
    private JsonValues() {}

    /// All values with their paths, as in `gpus/0/usedBytes=1`.
    public static List<String> of(Consumer<PrintWriter> writer) {
        StringWriter text = new StringWriter();
        writer.accept(new PrintWriter(text, true));
        assertThat(text.toString()).endsWith("}\n");
        List<String> values = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text.toString())) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token.isScalarValue()) {
                    values.add(parser.streamReadContext().pathAsPointer() + "=" + parser.getString());
                }
            }
        }
        return values;
    }
}
