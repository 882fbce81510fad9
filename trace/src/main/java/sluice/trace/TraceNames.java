package sluice.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Names of kernels and ranges: one file for each process, `names-PID`, with a line `ID<TAB>NAME` for each.
final class TraceNames {
    private final Map<Integer, Map<Long, String>> names = new HashMap<>();

    void read(int pid, Path file) throws IOException {
        Map<Long, String> ofProcess = names.computeIfAbsent(pid, key -> new HashMap<>());
        for (String line : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                try {
                    ofProcess.put(Long.parseLong(line, 0, tab, 10), line.substring(tab + 1));
                } catch (NumberFormatException e) {
                    // A line that was not written to its end.
                }
            }
        }
    }

    String of(int pid, long id) {
        String name = names.getOrDefault(pid, Map.of()).get(id);
        return name == null ? "unnamed " + id : name;
    }
}
