package sluice.proof.bench;

import static sluice.proof.stage.Stage.GIB;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import sluice.proof.bench.Target.AddedAtMost;
import sluice.proof.bench.Target.RatioAtMost;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.Environment;
import sluice.proof.stage.ProbeCommand;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.place.RuntimeDirectory;

/// The cost of a start: of the library in a program that never uses CUDA, and of `sluice run` itself.
final class StartBench {
    private static final Target LIBRARY = new AddedAtMost(100_000);
    private static final Target CUDA = new AddedAtMost(5_000_000);
    private static final Target RUN = new RatioAtMost(2);

    private StartBench() {}

    static Measurement library(Environment environment, int repeats, Consumer<String> progress) {
        progress.accept("start of a program that never uses CUDA");
        try (Stage stage = new Stage(environment)) {
            List<String> program = List.of(programTrue().toString());
            return sideBySide("start of a program without CUDA", "the program without the library",
                    () -> run(program, stage.plainSettings()), () -> run(program, stage.preloaded()), repeats, 100, LIBRARY);
        }
    }

    /// From cuInit until the first memory is there, in processes of their own.
    static Measurement cuda(Environment environment, int repeats, Consumer<String> progress) {
        progress.accept("start of CUDA in a process");
        try (Stage stage = new Stage(environment)) {
            TestTenant tenant = stage.tenant(8 * GIB);
            return sideBySide("start of CUDA in a process, to its first memory", "no library",
                    () -> open(stage, stage.plainSettings()), () -> open(stage, stage.settings(tenant)), repeats, 5, CUDA);
        }
    }

    private static double open(Stage stage, Map<String, String> settings) {
        ProbeProcess probe = stage.start(settings);
        Facts opened = probe.ask("open-at", System.nanoTime());
        Expect.success("opening the GPU", opened.status());
        probe.kill();
        stage.forget(probe);
        return opened.number("nanos");
    }

    static Measurement launcher(Environment environment, Path launcher, int repeats, Consumer<String> progress) {
        progress.accept("sluice run -- true");
        try (Stage stage = new Stage(environment)) {
            Map<String, String> settings = stage.plainSettings();
            settings.put(RuntimeDirectory.VARIABLE, stage.runtimeDirectory().path().toString());
            Baseline java = baseline();
            List<String> sluice = new ArrayList<>(List.of(launcher.toString(), "run", "--memory", "1g"));
            sluice.addAll(environment.simulated() ? List.of("--sim", "--") : List.of("--"));
            sluice.add(programTrue().toString());
            return sideBySide("sluice run -- true, against " + java.name(), java.name(),
                    () -> run(List.of(java.java().toString(), "-version"), settings), () -> run(sluice, settings), repeats, 7, RUN);
        }
    }

    private record Baseline(String name, Path java) {}

    /// A whole JDK has an archive of its own classes and starts in half the time of the bundled runtime without one.
    private static Baseline baseline() {
        String home = System.getenv("JAVA_HOME");
        Path java = home == null ? null : Path.of(home, "bin", "java");
        return java != null && Files.isExecutable(java)
                ? new Baseline("JAVA_HOME's java -version", java)
                : new Baseline("the bundled java -version", ProbeCommand.java());
    }

    private interface Run {
        double nanos();
    }

    private static Measurement sideBySide(
            String name, String baseline, Run without, Run with, int repeats, int runs, Target target) {
        List<Double> bare = new ArrayList<>();
        List<Double> limited = new ArrayList<>();
        for (int repeat = 0; repeat < repeats; repeat++) {
            List<Double> bareRuns = new ArrayList<>();
            List<Double> limitedRuns = new ArrayList<>();
            for (int i = 0; i < runs; i++) {
                bareRuns.add(without.nanos());
                limitedRuns.add(with.nanos());
            }
            bare.add(Spread.of(bareRuns).median());
            limited.add(Spread.of(limitedRuns).median());
        }
        return new Measurement(name, baseline, bare, limited, target);
    }

    private static double run(List<String> command, Map<String, String> settings) {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().putAll(settings);
        try {
            long start = System.nanoTime();
            int status = builder.start().waitFor();
            long nanos = System.nanoTime() - start;
            Expect.that(status == 0, String.join(" ", command) + " ended with status " + status);
            return nanos;
        } catch (IOException | InterruptedException failed) {
            throw new CheckFailed("cannot run " + String.join(" ", command) + ": " + failed.getMessage());
        }
    }

    private static Path programTrue() {
        return Stream.of("/usr/bin/true", "/bin/true").map(Path::of).filter(Files::isExecutable).findFirst()
                .orElseThrow(() -> new CheckFailed("there is no /usr/bin/true to start"));
    }
}
