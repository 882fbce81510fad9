package sluice.proof.bench;

import static sluice.proof.stage.Stage.GIB;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import sluice.proof.bench.Target.AddedAtMost;
import sluice.proof.bench.Target.RatioAtMost;
import sluice.proof.stage.Environment;
import sluice.proof.stage.ProbeCommand;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;

/// The cost of single CUDA calls, without the library and with a memory quota.
///
/// A fresh pair of processes for each repeat; the two take turns of a few milliseconds, because a shared machine is fast
/// in one second and slow in the next. A repeat's value is the median of the turns, what Sluice adds the median of the
/// differences between neighbouring turns.
final class CallBench {
    private static final Target LAUNCH = new AddedAtMost(60);
    private static final Target ALLOCATION = new AddedAtMost(300);
    private static final Target STREAM_ORDERED = new AddedAtMost(150);
    private static final Target PHYSICAL = new RatioAtMost(1.01);
    private static final Target FREE = new AddedAtMost(1000);
    private static final Target NOT_SLOWER = new RatioAtMost(1.02);
    private static final String BASELINE = "no library";

    private static final int ROUNDS = 40;

    /// @param series the calls that a probe times, in so many batches
    record Case(String name, String series, int batches, Target target) {}

    private static final List<Case> CASES = List.of(
            new Case("empty kernel launch, back to back", "launch 200", 12, LAUNCH),
            new Case("cuMemGetInfo", "info 200", 12, NOT_SLOWER),
            new Case("cuMemAlloc + cuMemFree, 512 B, 0 others live", "alloc-free 200 512 0", 12, ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 512 B, 1,000 others live", "alloc-free 200 512 1000", 12, ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 512 B, 100,000 others live", "alloc-free 200 512 100000", 12, ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 4 MiB, 0 others live", "alloc-free 20 4194304 0", 8, ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 4 MiB, 100,000 others live", "alloc-free 20 4194304 100000", 8, ALLOCATION),
            new Case("cuMemFree alone, 512 B, 100,000 others live", "free 200 512 100000", 12, FREE),
            new Case("cuMemAllocAsync + cuMemFreeAsync, 1 MiB", "async 200 1048576", 12, STREAM_ORDERED),
            new Case("cuMemCreate + Map + SetAccess + Unmap + Release, 2 MiB", "physical 20 2097152", 8, PHYSICAL));

    private CallBench() {}

    static List<Measurement> run(Environment environment, int repeats, Consumer<String> progress) {
        Map<Case, List<Double>> without = empty();
        Map<Case, List<Double>> with = empty();
        for (int repeat = 1; repeat <= repeats; repeat++) {
            progress.accept("calls, repeat " + repeat + " of " + repeats);
            try (Stage stage = new Stage(environment)) {
                ProbeProcess bare = open(stage, stage.plainSettings());
                ProbeProcess limited = open(stage, stage.settings(stage.tenant(8 * GIB)));
                for (Case one : CASES) {
                    measure(one, bare, limited, without.get(one), with.get(one));
                }
            }
        }
        return CASES.stream()
                .map(one -> new Measurement(one.name(), BASELINE, without.get(one), with.get(one), one.target()))
                .toList();
    }

    private static Map<Case, List<Double>> empty() {
        Map<Case, List<Double>> values = new LinkedHashMap<>();
        CASES.forEach(one -> values.put(one, new ArrayList<>()));
        return values;
    }

    static ProbeProcess open(Stage stage, Map<String, String> settings) {
        ProbeProcess probe = stage.launch(ProbeCommand.steady(), settings);
        Stage.open(probe);
        return probe;
    }

    /// Adds one repeat's values.
    static void measure(Case one, ProbeProcess bare, ProbeProcess limited, List<Double> without, List<Double> with) {
        bare.ask("time-begin " + one.series());
        limited.ask("time-begin " + one.series());
        List<Double> bareNanos = new ArrayList<>();
        List<Double> added = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            boolean bareFirst = round % 2 == 0;
            double first = slice(bareFirst ? bare : limited, one);
            double second = slice(bareFirst ? limited : bare, one);
            bareNanos.add(bareFirst ? first : second);
            added.add(bareFirst ? second - first : first - second);
        }
        bare.ask("time-end");
        limited.ask("time-end");
        double typical = Spread.of(bareNanos).median();
        without.add(typical);
        with.add(typical + Spread.of(added).median());
    }

    private static double slice(ProbeProcess probe, Case one) {
        return probe.ask("time-slice " + one.batches()).decimal("nanos");
    }
}
