package sluice.proof.bench.lock;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import sluice.proof.bench.compute.Witness;
import sluice.proof.bench.compute.Worker;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.stage.Environment;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.Terms;
import sluice.region.place.SluiceException;

/// culocker's experiment: a short task, 2 ms of work every 20 ms, beside a long one that always has more. Both are under its switches, which
/// let the short one finish and end the long one's holds after a window.
public final class LockExperiment {
    private static final Load SHORT = new Load(Kind.BURSTS, 1_000_000);
    private static final Load LONG = new Load(Kind.LAUNCHES, 100_000);

    /// @param seconds how long each round of each window lasts
    public record Options(List<LockWindow> windows, int rounds, double seconds) {}

    private LockExperiment() {}

    /// @param seen gets each run as soon as it is over
    public static void run(Environment environment, Options options, Consumer<LockRun> seen) {
        if (environment.gpu().isEmpty()) {
            throw new SluiceException("no GPU that works is found; 'sluice doctor' says why, --sim uses the simulated GPU");
        }
        try {
            for (int round = 1; round <= options.rounds(); round++) {
                for (LockWindow window : options.windows()) {
                    seen.accept(run(environment, window, round, options.seconds()));
                }
            }
        } catch (CheckFailed failed) {
            throw new SluiceException("the experiment broke off: " + failed.getMessage(), failed);
        }
    }

    private static LockRun run(Environment environment, LockWindow window, int round, double seconds) {
        try (Stage stage = new Stage(environment)) {
            Worker shortTask = new Worker(stage, probe(stage, window, LockWindow.shortSwitches()), SHORT, seconds);
            Optional<Worker> longTask = window.hasLongTask()
                    ? Optional.of(new Worker(stage, probe(stage, window, window.longSwitches()), LONG, seconds)) : Optional.empty();
            List<Worker> both = Stream.concat(Stream.of(shortTask), longTask.stream()).toList();
            both.forEach(Worker::calibrate);
            both.forEach(Worker::go);
            List<Witness> seen = both.stream().map(Worker::witness).toList();
            return LockRun.of(window, round, seen.getFirst(), seen.stream().skip(1).findFirst());
        }
    }

    private static ProbeProcess probe(Stage stage, LockWindow window, Map<String, String> switches) {
        return window.hasLibrary() ? stage.busy(Terms.NONE, switches) : stage.busy(Terms.NONE);
    }
}
