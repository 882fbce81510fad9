package sluice.trace.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Names by number, from lines `NUMBER<TAB>NAME`. A number means the same in all files of a trace.
final class TraceNames {
    private final Map<Long, String> names = new HashMap<>();
    private final String unknown;

    /// @param unknown prefix of the number that replaces a missing name
    TraceNames(String unknown) {
        this.unknown = unknown;
    }

    void read(Path file, List<TraceDamage> damage) throws IOException {
        TraceText.lines(file, line -> {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                try {
                    names.put(Long.parseLong(line, 0, tab, 10), line.substring(tab + 1));
                } catch (NumberFormatException e) {
                    // An incomplete line.
                }
            }
        }, damage);
    }

    String of(long number) {
        String name = names.get(number);
        return name != null ? name : unknown + number;
    }
}
