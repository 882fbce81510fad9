package sluice.cli.proof;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Progress;
import sluice.cli.process.Interrupt;
import sluice.proof.bench.Bench;
import sluice.proof.bench.BenchReport;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interrupted;
import sluice.region.place.Installation;

@Command(
        name = "bench",
        header = "Measures what Sluice costs on this machine, next to no library at all.",
        description = {"", "Without a working GPU it uses the simulated one.", ""},
        commandListHeading = "%nMore:%n",
        subcommands = {BenchComputeCommand.class, BenchLatencyCommand.class, BenchLockCommand.class})
public final class BenchCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--repeats", paramLabel = "N", description = "How often everything is measured; default 5.")
    private int repeats = 5;

    @Option(names = "--out", paramLabel = "FOLDER", description = "Also writes bench.md, bench.json and bench.svg there.")
    private Path folder;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Override
    public Integer call() {
        if (repeats < 1 || repeats > 1000) {
            throw new ParameterException(spec.commandLine(), "bad --repeats '" + repeats + "'; use 1 to 1000");
        }
        Installation installation = Installation.find();
        PrintWriter out = spec.commandLine().getOut();
        OutFolder files = OutFolder.make(folder);
        AtomicInteger steps = new AtomicInteger();
        try (Interrupt _ = new Interrupt()) {
            try {
                measure(installation, steps, out, files);
                return ExitStatus.OK;
            } catch (Interrupted e) {
                spec.commandLine().getErr().println(interrupted(steps.get() - 1));
                return ExitStatus.INTERRUPTED;
            }
        }
    }

    private void measure(Installation installation, AtomicInteger steps, PrintWriter out, OutFolder files) {
        try (Progress progress = Progress.standard()) {
            progress.step("measuring");
            Environment environment = GpuChoice.of(installation, simulated, spec.commandLine().getErr());
            BenchReport report = Bench.run(environment, new Bench.Options(repeats, Optional.of(installation.launcher())), step -> {
                steps.incrementAndGet();
                progress.step(step);
            });
            out.print(json ? report.json() : report.markdown());
            out.flush();
            files.write(Map.of("bench.md", report.markdown(), "bench.json", report.json(), "bench.svg", report.svg()));
        }
    }

    /// @param done how many were completed
    static String interrupted(int done) {
        return "interrupted after " + Math.max(0, done) + (done == 1 ? " step" : " steps");
    }
}
