package sluice.proof;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// One run of the benchmark of shares: what was asked for, and how its tables get tenants to work.
///
/// @param alone    the share that each load gets without the library and without others, once it was measured
/// @param failures by table and row: what went wrong in one of its repeats
record ComputeRun(
        Environment environment,
        ComputeBench.Options options,
        Consumer<String> progress,
        RawLog raw,
        Map<Load, Double> alone,
        Map<String, String> failures) {

    private static final double ALONE_SECONDS = 2;

    /// A tenant of a run; without terms it runs without the library.
    record Part(Terms terms, Load load) {}

    ComputeRun(Environment environment, ComputeBench.Options options, Consumer<String> progress, RawLog raw) {
        this(environment, options, progress, raw, new HashMap<>(), new HashMap<>());
    }

    Bounds bounds() {
        return Bounds.of(environment);
    }

    double seconds() {
        return options.seconds();
    }

    int repeats() {
        return options.repeats();
    }

    void say(String text) {
        progress.accept(text);
    }

    /// Whether a row is asked for: `--only TABLE` or `--only TABLE/PART-OF-ITS-NAME/…`.
    boolean wants(String table, String row) {
        return options.only().isEmpty() || options.only().stream().anyMatch(word -> {
            String[] parts = word.replaceAll("(\\d) ?us\\b", "$1 µs").split("/");
            for (int i = 1; i < parts.length; i++) {
                if (!row.contains(parts[i])) {
                    return false;
                }
            }
            return word.replaceFirst("/.*", "").equals(table);
        });
    }

    double alone(Load load) {
        return alone.computeIfAbsent(load, asked -> {
            say("alone: " + load.text());
            return together(List.of(new Part(Terms.NONE, load)), Math.min(ALONE_SECONDS, seconds())).getFirst().share();
        });
    }

    /// One repeat of one row. If it breaks off the others still go on, and the row tells why it is missed.
    void attempt(String table, String row, int repeat, Runnable body) {
        try {
            body.run();
        } catch (CheckFailed failed) {
            say(table + " " + row + ", repeat " + repeat + " failed: " + failed.getMessage());
            failures.putIfAbsent(table + "/" + row, failed.getMessage());
        }
    }

    /// The row, or, if one of its repeats failed, why.
    Row judged(String table, String row, int columns, Supplier<Row> body) {
        String failure = failures.get(table + "/" + row);
        if (failure == null) {
            return body.get();
        }
        List<String> cells = new ArrayList<>(Collections.nCopies(columns, "-"));
        cells.set(0, "failed: " + failure);
        return new Row(row, cells, "-", false);
    }

    /// All at the same time, for so many seconds.
    List<Witness> together(List<Part> parts, double seconds) {
        try (Stage stage = new Stage(environment)) {
            List<Worker> workers = new ArrayList<>();
            for (Part part : parts) {
                workers.add(worker(stage, part, seconds));
            }
            workers.forEach(Worker::go);
            return workers.stream().map(Worker::witness).toList();
        }
    }

    Worker worker(Stage stage, Part part, double seconds) {
        Path launcher = options.launcher();
        ProbeProcess probe = part.terms().words().isEmpty() ? stage.busy(Terms.NONE) : stage.busy(part.terms(), launcher);
        return new Worker(stage, probe, part.load(), seconds);
    }
}
