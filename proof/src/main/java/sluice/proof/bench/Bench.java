package sluice.proof.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import sluice.proof.facts.CheckFailed;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Environment.GpuDescription;
import sluice.proof.stage.Interruption;
import sluice.region.place.SluiceException;

/// The cost of Sluice on this machine, compared with no library, in one run.
public final class Bench {

    /// @param repeats  how often everything is measured; odd numbers give a true median
    /// @param launcher bin/sluice, to measure `sluice run`; empty leaves it out
    public record Options(int repeats, Optional<Path> launcher) {}

    private Bench() {}

    public static BenchReport run(Environment environment, Options options, Consumer<String> progress) {
        GpuDescription gpu = environment.gpu().orElseThrow(() -> new SluiceException(
                "no GPU that works is found; 'sluice doctor' says why, --sim uses the simulated GPU"));
        try {
            List<Measurement> all = new ArrayList<>(CallBench.run(environment, options.repeats(), progress));
            all.add(StartBench.library(environment, options.repeats(), progress));
            all.add(StartBench.cuda(environment, options.repeats(), progress));
            options.launcher().filter(Files::isExecutable).ifPresent(launcher ->
                    all.add(StartBench.launcher(environment, launcher, options.repeats(), progress)));
            return new BenchReport(gpu.name(), gpu.simulated(), machine(), options.repeats(), all);
        } catch (CheckFailed failed) {
            Interruption.rethrow();
            throw new SluiceException("the benchmark broke off: " + failed.getMessage(), failed);
        }
    }

    public static String machine() {
        return Runtime.getRuntime().availableProcessors() + " processor threads, "
                + System.getProperty("os.name") + " " + System.getProperty("os.version");
    }
}
