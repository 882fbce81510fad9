package sluice.trace.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The descriptions of processes: one file for each process, `process-PID`, with lines `key=value`.
final class ProcessFiles {
    private final Map<String, Map<String, String>> processes = new TreeMap<>();

    void read(String process, Path file, List<TraceDamage> damage) throws IOException {
        Map<String, String> values = processes.computeIfAbsent(process, key -> new HashMap<>());
        TraceText.lines(file, line -> {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }, damage);
    }

    /// A process that has events, with or without a description.
    void know(String process) {
        processes.computeIfAbsent(process, key -> new HashMap<>());
    }

    boolean isEmpty() {
        return processes.isEmpty();
    }

    List<TraceInfo.Process> list() {
        return processes.entrySet().stream()
                .map(process -> new TraceInfo.Process(pid(process.getKey()), text(process.getValue(), "command"),
                        number(process.getValue(), "start"), text(process.getValue(), "driver"), text(process.getValue(), "library")))
                .toList();
    }

    String tenant() {
        return processes.values().stream().map(values -> text(values, "tenant")).filter(name -> !name.isEmpty()).findFirst().orElse("");
    }

    /// GPUs are `gpu.INDEX=UUID NAME`, and what the job asked of them `share.INDEX=PERMILLE WEIGHT`.
    List<TraceInfo.Gpu> gpus() {
        Map<Integer, TraceInfo.Gpu> gpus = new TreeMap<>();
        for (Map<String, String> values : processes.values()) {
            values.forEach((key, value) -> {
                if (key.matches("gpu\\.\\d{1,4}")) {
                    int index = Integer.parseInt(key.substring(4));
                    int space = value.indexOf(' ');
                    int[] share = share(text(values, "share." + index));
                    gpus.putIfAbsent(index, new TraceInfo.Gpu(index, space < 0 ? value : value.substring(0, space),
                            space < 0 ? "" : value.substring(space + 1), share[0], share[1]));
                }
            });
        }
        return List.copyOf(gpus.values());
    }

    private static int[] share(String value) {
        return value.matches("(1000|\\d{1,3}) \\d{1,4}")
                ? Arrays.stream(value.split(" ")).mapToInt(Integer::parseInt).toArray() : new int[2];
    }

    String entriesDigest(String process) {
        return text(processes.getOrDefault(process, Map.of()), "entries");
    }

    /// PID, or PID-N where several processes had the number.
    private static int pid(String process) {
        int minus = process.indexOf('-');
        try {
            return Integer.parseInt(minus < 0 ? process : process.substring(0, minus));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static String text(Map<String, String> values, String key) {
        return values.getOrDefault(key, "");
    }

    private static long number(Map<String, String> values, String key) {
        try {
            return Math.max(0, Long.parseLong(values.getOrDefault(key, "0")));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
