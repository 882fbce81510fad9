package sluice.cli.proof;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Progress;
import sluice.cli.process.Interrupt;
import sluice.proof.bench.lock.LockExperiment;
import sluice.proof.bench.lock.LockReport;
import sluice.proof.bench.lock.LockRun;
import sluice.proof.bench.lock.LockWindow;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interrupted;
import sluice.region.place.Installation;
import sluice.region.place.SluiceException;

@Command(
        name = "lock",
        header = "Runs culocker's experiment: a short task beside a long one, under windows of different lengths.",
        description = {
            "",
            "Writes cu_log_T3_L7.csv, cu_log_task_T3_L7.csv and cu_log_holds_T3_L7.csv, a table and two plots; docs/compatibility.md has their formats.",
            "Without a GPU that works, on the simulated one.",
            ""
        },
        footer = {
            "",
            "Windows: 2 the short task alone, 3 both without the library, 4 a hold for each operation of the long task; else milliseconds."
        })
final class BenchLockCommand extends AnyCommand implements Callable<Integer> {
    @Option(names = "--sim", description = "Uses the simulated GPU.")
    private boolean simulated;

    @Option(names = "--windows", paramLabel = "W", split = ",", description = "Which windows; those of culocker's experiment if not given.")
    private List<String> windows = new ArrayList<>();

    @Option(names = "--rounds", paramLabel = "N", description = "How often each window is run; default 3, culocker's 15.")
    private int rounds = 3;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each run lasts; default 5, culocker's 15.")
    private double seconds = 5;

    @Option(names = "--out", paramLabel = "FOLDER", description = "Where the files are written; default out, as culocker's.")
    private Path folder = Path.of("out");

    @Override
    public Integer call() {
        if (rounds < 1 || rounds > 1000) {
            throw new ParameterException(spec.commandLine(), "bad --rounds '" + rounds + "'; use 1 to 1000");
        }
        if (!(seconds >= 1 && seconds <= 50)) {
            throw new ParameterException(spec.commandLine(), "bad --seconds '" + seconds + "'; use 1 to 50");
        }
        List<LockWindow> chosen = chosen();
        save(Map.of());
        Environment environment = GpuChoice.of(Installation.find(), simulated, spec.commandLine().getErr());
        List<LockRun> runs = new ArrayList<>();
        try (Interrupt _ = new Interrupt()) {
            measure(environment, chosen, runs);
        } catch (Interrupted e) {
            spec.commandLine().getErr().println(BenchCommand.interrupted(runs.size()));
            return ExitStatus.INTERRUPTED;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(new LockReport(runs).markdown());
        out.flush();
        return ExitStatus.OK;
    }

    private void measure(Environment environment, List<LockWindow> chosen, List<LockRun> runs) {
        try (Progress progress = Progress.standard()) {
            progress.step("measuring");
            LockExperiment.run(environment, new LockExperiment.Options(chosen, rounds, seconds), run -> {
                runs.add(run);
                save(new LockReport(runs).files());
                progress.step("round " + run.round() + " of " + rounds + ": window " + run.window().text());
            });
        }
    }

    private List<LockWindow> chosen() {
        try {
            return windows.isEmpty() ? LockWindow.ALL : windows.stream().map(LockWindow::parse).toList();
        } catch (SluiceException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /// After each run, so that an experiment that is broken off leaves what it saw; without files before the first, so that no time is lost for a
    /// folder that cannot be.
    private void save(Map<String, String> files) {
        try {
            Files.createDirectories(folder);
            for (Map.Entry<String, String> file : files.entrySet()) {
                Files.writeString(folder.resolve(file.getKey()), file.getValue());
            }
        } catch (IOException e) {
            throw new SluiceException("cannot write to " + folder + " (" + SluiceException.reason(e) + "); choose another --out", e);
        }
    }
}
