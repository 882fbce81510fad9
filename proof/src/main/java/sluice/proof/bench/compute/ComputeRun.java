package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.Spread;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Load;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interruption;
import sluice.proof.stage.Terms;

/// One run of the benchmark of shares: the request, and the data that its tables share.
///
/// @param alone    the shares that each load got without the library and without others
/// @param failures by table and row: the failure of one of its repeats
@SuppressWarnings("exports")
public record ComputeRun(
        Environment environment,
        ComputeBench.Options options,
        Consumer<String> progress,
        RawLog raw,
        Map<Load, List<Double>> alone,
        Map<String, String> failures) {

    private static final double ALONE_SECONDS = 2;
    private static final double NEARLY_ALL = 0.95;

    /// A tenant of a step; without terms it runs without the library.
    ///
    /// @param seconds if it is not to work as long as the step takes; else 0
    public record Part(Terms terms, Load load, double seconds) {
        public Part(Terms terms, Load load) {
            this(terms, load, 0);
        }
    }

    ComputeRun(Environment environment, ComputeBench.Options options, Consumer<String> progress, RawLog raw) {
        this(environment, options, progress, raw, new HashMap<>(), new HashMap<>());
    }

    public Bounds bounds() {
        return Bounds.of(environment);
    }

    public double seconds() {
        return options.seconds();
    }

    public int repeats() {
        return options.repeats();
    }

    public void say(String text) {
        progress.accept(text);
    }

    /// Whether a row is asked for: `--only TABLE` or `--only TABLE/PART-OF-ITS-NAME/…`.
    public boolean wants(String table, String row) {
        return options.only().isEmpty() || options.only().stream().anyMatch(word -> isNamed(word, table, row));
    }

    /// Whether a word of `--only` is for a row.
    public static boolean isNamed(String word, String table, String row) {
        String[] parts = word.replaceAll("(\\d) ?us\\b", "$1 µs").split("/");
        for (int i = 1; i < parts.length; i++) {
            if (!row.contains(parts[i])) {
                return false;
            }
        }
        return word.replaceFirst("/.*", "").equals(table);
    }

    /// The load without the library. One that keeps the GPU busy nearly all the time does so every time; any other one is
    /// measured in each repeat.
    Step aloneStep(String table, Load load, int repeat) {
        String row = "alone: " + load.text();
        return Step.together(row, repeat, List.of(new Part(Terms.NONE, load)), Math.min(ALONE_SECONDS, seconds()), one -> {
            double share = one.getFirst().share();
            alone.computeIfAbsent(load, asked -> new ArrayList<>()).add(share);
            raw.add(table, row, repeat, 0, "share", 0, share);
            say(row + ": " + PercentText.format(share));
        }).onlyIf(() -> alone.containsKey(load)
                ? alone.get(load).size() < repeat && alone(load) < NEARLY_ALL
                : repeat == 1 || failures.containsKey(table + "/" + row));
    }

    double alone(Load load) {
        if (!alone.containsKey(load)) {
            throw new CheckFailed("not measured alone");
        }
        return Spread.of(alone.get(load)).median();
    }

    /// One repeat of one row. If it fails, the others still go on, and the row shows why it is missed.
    void attempt(String table, String row, int repeat, Runnable body) {
        try {
            body.run();
        } catch (RuntimeException failed) {
            Interruption.rethrow();
            String why = failed instanceof CheckFailed ? failed.getMessage() : failed.toString();
            say(table + " " + row + ", repeat " + repeat + " failed: " + why);
            failures.putIfAbsent(table + "/" + row, why);
        }
    }

    /// The row of the results so far; without results, or after a failed repeat, the reason.
    ///
    /// @param done how many repeats there are
    public Row judged(String table, String row, int columns, int done, Supplier<Row> body) {
        String failure = failures.get(table + "/" + row);
        if (done == 0) {
            return missing(row, columns, failure == null ? "not run" : "failed: " + failure);
        }
        try {
            Row found = body.get();
            String target = found.target() + (done < repeats() ? "; " + done + " of " + repeats() + " repeats" : "")
                    + (failure == null ? "" : "; one failed: " + failure);
            return new Row(found.name(), found.cells(), target, found.met() && failure == null, found.values());
        } catch (CheckFailed failed) {
            return missing(row, columns, "failed: " + failed.getMessage());
        }
    }

    private static Row missing(String row, int columns, String why) {
        List<String> cells = new ArrayList<>(Collections.nCopies(columns, "-"));
        cells.set(0, why);
        return new Row(row, cells, "-", false);
    }
}
