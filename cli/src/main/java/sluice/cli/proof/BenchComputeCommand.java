package sluice.cli.proof;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.proof.bench.compute.ComputeBench;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

@Command(
        name = "compute",
        header = "Measures how well shares of a GPU's time hold, and what they cost.",
        description = {
            "",
            "The kernels themselves record their times. All runs take hours: choose with --only and --seconds.",
            "Without a working GPU it uses the simulated one.",
            ""
        },
        footer = {
            "",
            "Tables: cap, weights, priority, lock, cost. Rows by parts of their names: --only cap/25/graph,lock/SIGKILL."
        })
final class BenchComputeCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--only", paramLabel = "TABLE[/ROW]", split = ",", description = "Which tables, or rows of them; all if not given.")
    private List<String> only = new ArrayList<>();

    @Option(names = "--seconds", paramLabel = "S", description = "How long each run lasts; default 12.")
    private double seconds = 12;

    @Option(names = "--repeats", paramLabel = "N", description = "How often everything is measured; default 5.")
    private int repeats = 5;

    @Option(names = "--out", paramLabel = "FOLDER",
            description = "Also writes compute.md, compute.json, compute.csv with every single value, and pictures there.")
    private Path folder;

    @Option(names = "--limit", paramLabel = "S",
            description = "Begins no run that would end later than this many seconds from now, and lists those that are missing.")
    private double limit = Double.POSITIVE_INFINITY;

    @Option(names = "--plan", description = "Only lists the runs and how long they take.")
    private boolean plan;

    @Option(names = "--ahead", negatable = true,
            description = "Starts the next run's processes in the first second of a run, which is not judged; by default for the table cap on a real GPU "
                    + "with 8 processors or more. It disturbs tenants that compete: bursts and weights come out wrong.")
    private Boolean ahead;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public Integer call() {
        if (repeats < 1 || repeats > 1000) {
            throw new ParameterException(spec.commandLine(), "bad --repeats '" + repeats + "'; use 1 to 1000");
        }
        if (!(seconds >= 1 && seconds <= 50)) {
            throw new ParameterException(spec.commandLine(), "bad --seconds '" + seconds + "'; use 1 to 50");
        }
        ComputeBench.unknownTable(only).ifPresent(word -> {
            throw new ParameterException(spec.commandLine(),
                    "there is no table '" + word + "'; there are " + String.join(", ", ComputeBench.words()));
        });
        Installation installation = Installation.find();
        PrintWriter err = spec.commandLine().getErr();
        Environment environment = GpuChoice.of(installation, simulated, err);
        PrintWriter out = spec.commandLine().getOut();
        ComputeBench.Options options = new ComputeBench.Options(only, seconds, repeats, limit,
                ahead == null ? ComputeBench.undisturbedByStarts(environment) : ahead ? Set.copyOf(ComputeBench.words()) : Set.of(),
                installation.launcher());
        if (plan) {
            ComputeBench.plan(environment, options).forEach(out::println);
            return ExitStatus.OK;
        }
        return new TableBench(spec.commandLine(), "compute", folder, json)
                .run((progress, kept, raw) -> ComputeBench.run(environment, options, progress, kept, raw));
    }
}
