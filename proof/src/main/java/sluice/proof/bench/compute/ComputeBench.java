package sluice.proof.bench.compute;

import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import sluice.proof.bench.Bench;
import sluice.proof.bench.Standstill;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Environment.GpuDescription;
import sluice.region.place.SluiceException;

/// How well shares of a GPU's time hold and what they cost on this machine, by the stamps of the kernels themselves.
public final class ComputeBench {
    private static final Map<String, Function<ComputeRun, TableMaker>> TABLES = tables();
    private static final int PROCESSORS_FOR_AHEAD = 8;

    /// @param only         tables, or rows as `table/part of the name`; all if there are none
    /// @param seconds      how long each run lasts
    /// @param limitSeconds no more steps are begun that would end after it
    /// @param ahead        tables for which processes are started while others are measured
    /// @param launcher     bin/sluice
    public record Options(List<String> only, double seconds, int repeats, double limitSeconds, Set<String> ahead, Path launcher) {}

    private ComputeBench() {}

    private static Map<String, Function<ComputeRun, TableMaker>> tables() {
        Map<String, Function<ComputeRun, TableMaker>> tables = new LinkedHashMap<>();
        tables.put(CapBench.WORD, CapBench::new);
        tables.put(WeightBench.WORD, WeightBench::new);
        tables.put(PriorityBench.WORD, PriorityBench::new);
        tables.put(LockBench.WORD, LockBench::new);
        tables.put(CostBench.WORD, CostBench::new);
        return tables;
    }

    public static List<String> words() {
        return List.copyOf(TABLES.keySet());
    }

    /// Tables that starting processes beside a measurement leaves alone. A cap of one tenant is none the worse for it. Where tenants
    /// compete, contexts that are made meanwhile disturb them: on an H200 bursts alone took 5.5 instead of 2.2 ms at p99, and weights
    /// were off by 10 %. A simulated GPU needs the processors itself.
    public static Set<String> undisturbedByStarts(Environment environment) {
        boolean room = !environment.simulated() && Runtime.getRuntime().availableProcessors() >= PROCESSORS_FOR_AHEAD;
        return room ? Set.of(CapBench.WORD) : Set.of();
    }

    /// The planned runs, a line for each row, and about how long they take.
    public static List<String> plan(Environment environment, Options options) {
        checkWords(options);
        return plan(environment, TABLES, options);
    }

    /// The same of a benchmark with other tables.
    public static List<String> plan(Environment environment, Map<String, Function<ComputeRun, TableMaker>> tables, Options options) {
        ComputeRun run = new ComputeRun(environment, options, text -> { }, new RawLog(Writer.nullWriter()));
        StepRunner runner = new StepRunner(run);
        List<String> lines = new ArrayList<>();
        double all = 0;
        for (Map.Entry<String, TableMaker> maker : makers(run, tables).entrySet()) {
            List<Step> steps = maker.getValue().steps();
            Map<String, List<Step>> rows = steps.stream().collect(Collectors.groupingBy(Step::row, LinkedHashMap::new, Collectors.toList()));
            rows.forEach((row, repeats) -> lines.add(String.format(Locale.ROOT, "%s: %s, %d × %.1f s", maker.getKey(), row,
                    repeats.size(), repeats.getFirst().seconds())));
            all += runner.estimate(maker.getKey(), steps);
        }
        lines.add(String.format(Locale.ROOT, "about %.0f s in all", all));
        return lines;
    }

    /// @param kept gets the results so far, after each step
    /// @param raw  gets every single value, as CSV, while the benchmark runs
    public static ComputeReport run(
            Environment environment, Options options, Consumer<String> progress, Consumer<ComputeReport> kept, Writer raw) {
        checkWords(options);
        return run(environment, TABLES, options, progress, kept, raw);
    }

    /// The same of a benchmark with other tables.
    public static ComputeReport run(
            Environment environment, Map<String, Function<ComputeRun, TableMaker>> tables, Options options, Consumer<String> progress,
            Consumer<ComputeReport> kept, Writer raw) {
        GpuDescription gpu = environment.gpu().orElseThrow(() -> new SluiceException(
                "no GPU that works is found; 'sluice doctor' says why, --sim uses the simulated GPU"));
        ComputeRun run = new ComputeRun(environment, options, progress, new RawLog(raw));
        Map<String, TableMaker> makers = makers(run, tables);
        String machine = Bench.machine() + "; it " + still(progress);
        StepRunner runner = new StepRunner(run);
        makers.forEach((word, maker) -> runner.expect(word, maker.steps()));
        makers.forEach((word, maker) -> runner.run(word, maker.steps(), () -> kept.accept(report(gpu, machine, options, makers))));
        progress.accept(runner.summary());
        return report(gpu, machine, options, makers);
    }

    private static String still(Consumer<String> progress) {
        Standstill still = Standstill.measure();
        progress.accept("the machine " + still.text()
                + (still.isRestless() ? ": what is missed below by milliseconds, or in a single repeat, may be its doing" : ""));
        return still.text();
    }

    private static void checkWords(Options options) {
        unknownTable(options.only()).ifPresent(word -> {
            throw new SluiceException("there is no table '" + word + "'; there are " + String.join(", ", words()));
        });
    }

    /// The first of the chosen rows that is of no table.
    public static Optional<String> unknownTable(Collection<String> only) {
        return only.stream().filter(word -> !TABLES.containsKey(word.replaceFirst("/.*", ""))).findFirst();
    }

    private static Map<String, TableMaker> makers(ComputeRun run, Map<String, Function<ComputeRun, TableMaker>> tables) {
        Map<String, TableMaker> makers = new LinkedHashMap<>();
        tables.forEach((word, maker) -> makers.put(word, maker.apply(run)));
        makers.values().removeIf(maker -> maker.table().rows().isEmpty());
        return makers;
    }

    private static ComputeReport report(GpuDescription gpu, String machine, Options options, Map<String, TableMaker> makers) {
        Map<String, String> plots = new LinkedHashMap<>();
        makers.values().forEach(maker -> plots.putAll(maker.plots()));
        return new ComputeReport(gpu.name(), gpu.simulated(), machine, options.seconds(), options.repeats(),
                makers.values().stream().map(TableMaker::table).toList(), plots);
    }
}
