package sluice.cli.output;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.DefaultPrettyPrinter;

/// Writes indented JSON, followed by a new line. The stream that it goes to stays open.
public final class Json {
    private Json() {}

    /// Writes it on one line instead.
    public static void writeLine(PrintWriter out, Consumer<JsonGenerator> content) {
        write(out, ObjectWriteContext.empty(), content);
    }

    public static void write(PrintWriter out, Consumer<JsonGenerator> content) {
        ObjectWriteContext indented = new ObjectWriteContext.Base() {
            @Override
            public PrettyPrinter getPrettyPrinter() {
                return new DefaultPrettyPrinter();
            }

            @Override
            public boolean hasPrettyPrinter() {
                return true;
            }
        };
        write(out, indented, content);
    }

    private static void write(PrintWriter out, ObjectWriteContext context, Consumer<JsonGenerator> content) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(context, text)) {
            content.accept(json);
        }
        out.println(text);
    }
}
