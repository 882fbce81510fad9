package sluice.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// What processes say about themselves: one file for each, `process-PID`, with lines `key=value`.
final class ProcessFiles {
    private final Map<Integer, Map<String, String>> processes = new TreeMap<>();

    void read(int pid, Path file) throws IOException {
        Map<String, String> values = processes.computeIfAbsent(pid, key -> new HashMap<>());
        for (String line : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
    }

    /// A process of which there are events, described or not.
    void know(int pid) {
        processes.computeIfAbsent(pid, key -> new HashMap<>());
    }

    boolean isEmpty() {
        return processes.isEmpty();
    }

    List<TraceInfo.Process> list() {
        return processes.entrySet().stream()
                .map(process -> new TraceInfo.Process(process.getKey(), text(process.getValue(), "command"),
                        number(process.getValue(), "start"), text(process.getValue(), "driver"), text(process.getValue(), "library")))
                .toList();
    }

    String tenant() {
        return processes.values().stream().map(values -> text(values, "tenant")).filter(name -> !name.isEmpty()).findFirst().orElse("");
    }

    /// GPUs are `gpu.INDEX=UUID NAME`.
    List<TraceInfo.Gpu> gpus() {
        Map<Integer, TraceInfo.Gpu> gpus = new TreeMap<>();
        for (Map<String, String> values : processes.values()) {
            values.forEach((key, value) -> {
                if (key.matches("gpu\\.\\d{1,4}")) {
                    int index = Integer.parseInt(key.substring(4));
                    int space = value.indexOf(' ');
                    gpus.putIfAbsent(index, new TraceInfo.Gpu(index, space < 0 ? value : value.substring(0, space),
                            space < 0 ? "" : value.substring(space + 1)));
                }
            });
        }
        return List.copyOf(gpus.values());
    }

    /// Events of threads that got no ring.
    long dropped() {
        return processes.values().stream().mapToLong(values -> number(values, "dropped")).sum();
    }

    private static String text(Map<String, String> values, String key) {
        return values.getOrDefault(key, "");
    }

    private static long number(Map<String, String> values, String key) {
        try {
            return Long.parseLong(values.getOrDefault(key, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
