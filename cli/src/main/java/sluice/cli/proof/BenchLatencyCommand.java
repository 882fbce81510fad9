package sluice.cli.proof;

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
import sluice.proof.bench.latency.LatencyBench;
import sluice.proof.stage.Environment;
import sluice.region.place.Installation;

@Command(
        name = "latency",
        header = "Measures how long short work of high priority takes beside other tenants.",
        description = {
            "",
            "Bursts of 10 kernels of 100 µs, and of one of 2 ms, every 20 ms: alone, and beside 1, 2 or 4 tenants with kernels of 1, 5 or 50 ms, or graphs.",
            "Each without the library, with NVIDIA's MPS where it is installed, with priorities, and with priorities and time slices.",
            "Without a working GPU it uses the simulated one.",
            ""
        },
        footer = {
            "",
            "Rows by parts of their names: --only '50 ms/1 tenant', --only '100us/with slices'. Everything takes about 13 minutes a round."
        })
final class BenchLatencyCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--only", paramLabel = "ROW", split = ",", description = "Which rows; all if not given.")
    private List<String> only = new ArrayList<>();

    @Option(names = "--seconds", paramLabel = "S", description = "How long each run lasts; default 4.")
    private double seconds = 4;

    @Option(names = "--rounds", paramLabel = "N", description = "How often everything is measured; default 1.")
    private int rounds = 1;

    @Option(names = "--out", paramLabel = "FOLDER", description = "Also writes latency.md, latency.json, pictures, and latency.csv with every single value there.")
    private Path folder;

    @Option(names = "--limit", paramLabel = "S",
            description = "Begins no run that would end later than this many seconds from now, and lists those that are missing.")
    private double limit = Double.POSITIVE_INFINITY;

    @Option(names = "--plan", description = "Only lists the runs and how long they take.")
    private boolean plan;

    @Option(names = "--json", description = "Writes JSON, with all figures as numbers.")
    private boolean json;

    @Override
    public Integer call() {
        if (rounds < 1 || rounds > 1000) {
            throw new ParameterException(spec.commandLine(), "bad --rounds '" + rounds + "'; use 1 to 1000");
        }
        if (!(seconds >= 1 && seconds <= 50)) {
            throw new ParameterException(spec.commandLine(), "bad --seconds '" + seconds + "'; use 1 to 50");
        }
        for (String word : only) {
            if (!LatencyBench.hasRow(word)) {
                throw new ParameterException(spec.commandLine(), "no row has '" + word + "' in its name; --plan lists all of them");
            }
        }
        Installation installation = Installation.find();
        Environment environment = GpuChoice.of(installation, simulated, spec.commandLine().getErr());
        List<String> rows = only.stream().map(word -> LatencyBench.WORD + "/" + word).toList();
        ComputeBench.Options options = new ComputeBench.Options(rows, seconds, rounds, limit, Set.of(), installation.launcher());
        if (plan) {
            ComputeBench.plan(environment, LatencyBench.tables(), options).forEach(spec.commandLine().getOut()::println);
            return ExitStatus.OK;
        }
        return new TableBench(spec.commandLine(), LatencyBench.WORD, folder, json)
                .run((progress, kept, raw) -> ComputeBench.run(environment, LatencyBench.tables(), options, progress, kept, raw));
    }
}
