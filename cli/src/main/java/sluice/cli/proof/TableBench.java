package sluice.cli.proof;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import picocli.CommandLine;
import sluice.cli.output.ExitStatus;
import sluice.cli.process.Interrupt;
import sluice.proof.bench.compute.ComputeReport;
import sluice.proof.stage.Interrupted;

/// Runs a benchmark that makes tables, and writes its results.
///
/// @param name   beginning of the names of its files
/// @param folder null: no files are wanted
record TableBench(CommandLine command, String name, Path folder, boolean json) {
    interface Benchmark {
        /// @param kept gets the results so far
        /// @param raw  gets every single value
        ComputeReport run(Consumer<String> progress, Consumer<ComputeReport> kept, Writer raw);
    }

    /// Returns the exit status.
    int run(Benchmark benchmark) {
        AtomicInteger steps = new AtomicInteger();
        try (Interrupt _ = new Interrupt()) {
            try {
                measure(benchmark, steps);
                return ExitStatus.OK;
            } catch (Interrupted e) {
                command.getErr().println(BenchCommand.interrupted(steps.get()));
                return ExitStatus.INTERRUPTED;
            }
        }
    }

    private void measure(Benchmark benchmark, AtomicInteger steps) {
        PrintWriter out = command.getOut();
        OutFolder files = OutFolder.make(folder);
        // Values are written as they come, so that an interrupted benchmark keeps them.
        try (Writer raw = files.open(name + ".csv")) {
            ComputeReport report = benchmark.run(command.getErr()::println, so -> {
                steps.incrementAndGet();
                save(so, files);
            }, raw);
            out.print(json ? report.json() : report.markdown());
            out.flush();
        } catch (IOException e) {
            throw files.cannotWrite(e);
        }
    }

    /// Also after each run, so that an interrupted benchmark leaves its tables.
    private void save(ComputeReport report, OutFolder files) {
        Map<String, String> texts = new LinkedHashMap<>(Map.of(name + ".md", report.markdown(), name + ".json", report.json()));
        report.plots().forEach((plot, picture) -> texts.put(name + "-" + plot + ".svg", picture));
        files.write(texts);
    }
}
