package sluice.proof.bench.lock;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.proof.bench.Chart;
import sluice.proof.bench.Chart.Series;

/// The results of the experiment, as culocker's files, as a table and as pictures. culocker's plot2.py reads the first two files.
public record LockReport(List<LockRun> runs) {
    private static final int POINTS = 200;
    private static final double LATE_MILLIS = 5;
    private static final double VERY_LATE_MILLIS = 6;
    private static final double LEAST_MILLIS = 1e-3;

    /// By the names of the files.
    public Map<String, String> files() {
        Map<String, String> files = new LinkedHashMap<>();
        files.put("cu_log_T3_L7.csv", frames());
        files.put("cu_log_task_T3_L7.csv", responses());
        files.put("cu_log_holds_T3_L7.csv", holds());
        files.put("lock.md", markdown());
        files.put("lock-responses.svg", chart("Time until a short job is done", run -> run.responseMillis().stream()));
        files.put("lock-holds.svg", chart("How long the long task holds the GPU", LockReport::longHolds));
        return files;
    }

    /// Seconds for each frame of the long task; the first one is left out, as there.
    private String frames() {
        StringBuilder text = new StringBuilder("frame,time,window_size\n");
        for (LockRun run : runs) {
            for (int i = 0; i < run.frameSeconds().size(); i++) {
                line(text, "%d,%.6f,%s", i + 1, run.frameSeconds().get(i), run.window().label());
            }
        }
        return text.toString();
    }

    /// Milliseconds for each job of the short task.
    private String responses() {
        StringBuilder text = new StringBuilder("time,window_size\n");
        runs.forEach(run -> run.responseMillis().forEach(millis -> line(text, "%.4f,%s", millis, run.window().label())));
        return text.toString();
    }

    private String holds() {
        StringBuilder text = new StringBuilder("task,round,began,held,kernels,window_size\n");
        runs.forEach(run -> run.holds().forEach(hold -> line(text, "%s,%d,%.4f,%.4f,%d,%s", hold.isShort() ? "short" : "long", run.round(),
                hold.beganMillis(), hold.heldMillis(), hold.kernels(), run.window().label())));
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append("\n");
    }

    public String markdown() {
        StringBuilder text = new StringBuilder("| window | short: 90 % | 99 % | 99.5 % | > 5 ms | > 6 ms | long: frame, median | holds, median | 99 % |\n"
                + "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        byWindow().forEach((window, all) -> {
            List<Double> responses = sorted(all, run -> run.responseMillis().stream());
            List<Double> frames = sorted(all, run -> run.frameSeconds().stream());
            List<Double> held = sorted(all, LockReport::longHolds);
            line(text, "| %s |", String.join(" | ", window.text(), millis(responses, 0.9), millis(responses, 0.99), millis(responses, 0.995),
                    above(responses, LATE_MILLIS), above(responses, VERY_LATE_MILLIS),
                    millis(frames.stream().map(seconds -> seconds * 1000).toList(), 0.5), millis(held, 0.5), millis(held, 0.99)));
        });
        return text.toString();
    }

    private Map<LockWindow, List<LockRun>> byWindow() {
        return runs.stream().collect(Collectors.groupingBy(LockRun::window, LinkedHashMap::new, Collectors.toList()));
    }

    private static Stream<Double> longHolds(LockRun run) {
        return run.holds().stream().filter(hold -> !hold.isShort()).map(LockRun.Hold::heldMillis);
    }

    private static List<Double> sorted(List<LockRun> runs, Function<LockRun, Stream<Double>> values) {
        return runs.stream().flatMap(values).sorted().toList();
    }

    private static double quantile(List<Double> sorted, double part) {
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(part * sorted.size())));
    }

    private static String millis(List<Double> sorted, double part) {
        return sorted.isEmpty() ? "–" : String.format(Locale.ROOT, "%.2f ms", quantile(sorted, part));
    }

    private static String above(List<Double> values, double bound) {
        return values.isEmpty() ? "–"
                : String.format(Locale.ROOT, "%.1f %%", 100.0 * values.stream().filter(value -> value > bound).count() / values.size());
    }

    /// The part of all values that are not above each, as culocker's plots have it.
    private String chart(String title, Function<LockRun, Stream<Double>> values) {
        List<Series> lines = new ArrayList<>();
        byWindow().forEach((window, all) -> {
            Series line = new Series(window.text());
            List<Double> sorted = sorted(all, values);
            for (int i = 0; i <= POINTS && !sorted.isEmpty(); i++) {
                line.add(Math.max(LEAST_MILLIS, quantile(sorted, (double) i / POINTS)), 100.0 * i / POINTS);
            }
            lines.add(line);
        });
        return new Chart(title, "milliseconds", "per cent").logarithmic().lines(lines).svg();
    }
}
