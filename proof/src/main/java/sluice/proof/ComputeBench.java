package sluice.proof;

import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import sluice.proof.Environment.GpuDescription;
import sluice.region.SluiceException;

/// How well shares of a GPU's time hold and what they cost on this machine, by the stamps of the kernels themselves.
public final class ComputeBench {
    /// What makes a table; it adds its pictures to the plots.
    interface Maker {
        Table make(ComputeRun run, Map<String, String> plots);
    }

    private static final Map<String, Maker> TABLES = tables();

    /// @param only     tables, or rows as `table/part of the name`; all if there are none
    /// @param seconds  how long each run lasts
    /// @param launcher bin/sluice
    public record Options(List<String> only, double seconds, int repeats, Path launcher) {}

    private ComputeBench() {}

    private static Map<String, Maker> tables() {
        Map<String, Maker> tables = new LinkedHashMap<>();
        tables.put(CapBench.WORD, CapBench::run);
        tables.put(WeightBench.WORD, WeightBench::run);
        tables.put(PriorityBench.WORD, (run, plots) -> PriorityBench.run(run));
        tables.put(LockBench.WORD, (run, plots) -> LockBench.run(run));
        tables.put(CostBench.WORD, (run, plots) -> CostBench.run(run));
        return tables;
    }

    public static List<String> words() {
        return List.copyOf(TABLES.keySet());
    }

    /// @param raw gets every single value, as CSV, while the benchmark runs
    public static ComputeReport run(Environment environment, Options options, Consumer<String> progress, Writer raw) {
        for (String word : options.only()) {
            if (!TABLES.containsKey(word.replaceFirst("/.*", ""))) {
                throw new SluiceException("there is no table '" + word + "'; there are " + String.join(", ", words()));
            }
        }
        GpuDescription gpu = environment.gpu().orElseThrow(() -> new SluiceException(
                "no GPU that works is found; 'sluice doctor' says why, --sim uses the simulated GPU"));
        ComputeRun run = new ComputeRun(environment, options, progress, new RawLog(raw));
        Map<String, String> plots = new LinkedHashMap<>();
        List<Table> tables = new ArrayList<>();
        try {
            TABLES.values().forEach(maker -> tables.add(maker.make(run, plots)));
        } catch (CheckFailed failed) {
            throw new SluiceException("the benchmark broke off: " + failed.getMessage(), failed);
        }
        tables.removeIf(table -> table.rows().isEmpty());
        return new ComputeReport(gpu.name(), gpu.simulated(), Bench.machine(), options.seconds(), options.repeats(), tables, plots);
    }
}
