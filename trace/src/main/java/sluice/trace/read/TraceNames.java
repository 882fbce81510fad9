package sluice.trace.read;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Names by number, from lines `NUMBER<TAB>NAME`. A number means the same in all files of a trace.
final class TraceNames {
    private final Map<Long, String> names = new HashMap<>();
    private final String unknown;

    /// @param unknown what stands before the number of what has no name
    TraceNames(String unknown) {
        this.unknown = unknown;
    }

    void read(Path file) throws IOException {
        for (String line : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                try {
                    names.put(Long.parseLong(line, 0, tab, 10), line.substring(tab + 1));
                } catch (NumberFormatException e) {
                    // A line that was not written to its end.
                }
            }
        }
    }

    String of(long number) {
        return names.computeIfAbsent(number, missing -> unknown + missing);
    }
}
