package sluice.proof;

import static sluice.proof.Stage.GIB;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import sluice.proof.Target.AddedAtMost;
import sluice.proof.Target.RatioAtMost;

/// What single CUDA calls cost without the library and with a memory quota. A fresh pair of processes for each repeat.
final class CallBench {
    private static final Target LAUNCH = new AddedAtMost(60);
    private static final Target ALLOCATION = new AddedAtMost(300);
    private static final Target NOT_SLOWER = new RatioAtMost(1.02);
    private static final String BASELINE = "no library";

    private record Case(String name, String command, Target target) {}

    private static final List<Case> CASES = List.of(
            new Case("empty kernel launch, back to back", "launch 200 200", LAUNCH),
            new Case("cuMemGetInfo", "info 200 200", NOT_SLOWER),
            new Case("cuMemAlloc + cuMemFree, 512 B, 0 others live", "alloc-free 200 200 512 0", ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 512 B, 1,000 others live", "alloc-free 200 200 512 1000", ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 512 B, 100,000 others live", "alloc-free 200 200 512 100000", ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 2 MiB, 0 others live", "alloc-free 100 50 2097152 0", ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 2 MiB, 1,000 others live", "alloc-free 100 50 2097152 1000", ALLOCATION),
            new Case("cuMemAlloc + cuMemFree, 2 MiB, 100,000 others live", "alloc-free 100 50 2097152 100000", ALLOCATION));

    private CallBench() {}

    static List<Measurement> run(Environment environment, int repeats, Consumer<String> progress) {
        Map<Case, List<Double>> without = empty();
        Map<Case, List<Double>> with = empty();
        for (int repeat = 1; repeat <= repeats; repeat++) {
            progress.accept("calls, repeat " + repeat + " of " + repeats);
            if (repeat % 2 == 1) {
                measure(environment, false, without);
                measure(environment, true, with);
            } else {
                measure(environment, true, with);
                measure(environment, false, without);
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

    private static void measure(Environment environment, boolean limited, Map<Case, List<Double>> into) {
        try (Stage stage = new Stage(environment)) {
            ProbeProcess probe = stage.launch(ProbeCommand.steady(),
                    limited ? stage.settings(stage.tenant(8 * GIB)) : stage.plainSettings());
            Stage.open(probe);
            CASES.forEach(one -> into.get(one).add(probe.ask("time " + one.command()).decimal("nanos")));
        }
    }
}
