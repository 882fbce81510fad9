package sluice.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/// Reads the small files of a trace line by line. Bytes that are no text, and lines beyond what the library writes, are left out.
final class TraceText {
    private static final int MOST_BYTES = 64 << 20;
    private static final int MOST_LINE = 4096;

    private TraceText() {}

    static void lines(Path file, Consumer<String> consumer, List<TraceDamage> damage) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MOST_BYTES);
        }
        if (Files.size(file) > bytes.length) {
            damage.add(new TraceDamage(file.getFileName().toString(), "is too large for a file of names; its end was left out", 0));
        }
        boolean binary = false;
        for (String line : new String(bytes, StandardCharsets.UTF_8).split("\n")) {
            boolean text = line.length() <= MOST_LINE && line.indexOf(0) < 0;
            binary |= !text;
            if (text) {
                consumer.accept(line);
            }
        }
        if (binary) {
            damage.add(new TraceDamage(file.getFileName().toString(), "has lines that are no text; they were left out", 0));
        }
    }
}
