package sluice.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.ComputeRun.Part;
import sluice.proof.Load.Kind;
import sluice.proof.PriorityBench.Outcome;
import sluice.proof.WeightBench.Split;

/// Shares of the GPU's time, witnessed by stamps of the kernels themselves: each check looks at a second and a half after
/// the first one. `sluice bench compute` measures the same at length.
final class ComputeChecks {
    private static final double SECONDS = 2.5;
    private static final long MILLISECOND = 1_000_000;
    private static final Load LAUNCHES = new Load(Kind.LAUNCHES, MILLISECOND);
    private static final int CAPTURED = 1000;

    private ComputeChecks() {}

    static List<Check> checks() {
        List<Check> checks = new ArrayList<>();
        for (Load load : List.of(new Load(Kind.LAUNCHES, 50_000), new Load(Kind.LAUNCHES, 20 * MILLISECOND))) {
            checks.add(cap(25, load));
            checks.add(cap(50, load));
        }
        checks.add(cap(25, new Load(Kind.GRAPH, 10_000)));
        checks.add(cap(50, new Load(Kind.SYNCED, MILLISECOND)));
        checks.add(cap(50, new Load(Kind.LENGTHENED, 5 * MILLISECOND)));
        checks.add(check("two processes of one tenant share a cap of 50 %", ComputeChecks::shared));
        checks.add(check("a capture under a cap is not disturbed", ComputeChecks::capture));
        checks.add(check("weights 1:1 give equal shares", stage -> weights(stage, 1, 1)));
        checks.add(check("weights 3:1 give three times as much", stage -> weights(stage, 3, 1)));
        checks.add(check("high priority goes first, low gets the rest", ComputeChecks::priority));
        checks.add(check("exclusive tenants never overlap", ComputeChecks::exclusive));
        checks.add(check("others go on when the holder is killed", ComputeChecks::killed));
        return checks;
    }

    private static Check check(String name, Check.Body body) {
        return new Check(Group.COMPUTE, name, body);
    }

    private static Check cap(int percent, Load load) {
        return check("a cap of " + percent + " % holds for " + load.text(), stage -> {
            Witness witness = together(stage, List.of(new Part(Terms.compute(percent), load))).getFirst();
            return held("it", witness.share(), percent, stage);
        });
    }

    private static String held(String who, double share, int percent, Stage stage) {
        double points = Bounds.of(stage.environment()).windowPoints();
        String seen = who + " got " + Percent.format(share) + " of the GPU's time";
        Expect.that(Math.abs(share * 100 - percent) <= points,
                seen + String.format(Locale.ROOT, ", the cap is %d %% ± %.0f", percent, points));
        return seen;
    }

    private static String shared(Stage stage) {
        Map<String, String> tenant = Map.of("SLUICE_TENANT", "shared");
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            workers.add(new Worker(stage, stage.busy(Terms.compute(50), tenant), LAUNCHES, SECONDS));
        }
        List<Witness> both = go(workers);
        Split split = Split.of(both);
        split.shares().forEach(share -> Expect.that(share > 0.02, "one of them got next to nothing: " + split.text()));
        return held("both together", split.busy(), 50, stage);
    }

    private static String capture(Stage stage) {
        ProbeProcess probe = stage.busy(Terms.compute(10));
        Facts facts = probe.ask("capture", CAPTURED);
        Expect.bytes("kernels in the captured graph that ran", CAPTURED, facts.number("kernels"));
        long millis = facts.number("micros") / 1000;
        Expect.that(millis < 200, "the capture of " + CAPTURED + " launches took " + millis + " ms: something waited");
        return CAPTURED + " launches captured in " + facts.number("micros") + " µs while the cap was used up";
    }

    private static String weights(Stage stage, int first, int second) {
        Bounds bounds = Bounds.of(stage.environment());
        Split split = Split.of(together(stage, List.of(new Part(weight(stage, first), LAUNCHES), new Part(weight(stage, second), LAUNCHES))));
        double error = split.ratioError(List.of(first, second));
        String seen = split.text() + ", together " + Percent.format(split.busy());
        Expect.that(error <= bounds.ratioError(),
                seen + String.format(Locale.ROOT, ": the ratio is off by %.1f %%, more than %.0f %%", error * 100, bounds.ratioError() * 100));
        Expect.that(split.busy() >= bounds.leastSum(), seen + ", expected at least " + Percent.format(bounds.leastSum()));
        return seen;
    }

    /// On the simulated GPU who gets the turn may wake up late, which counts less in longer turns.
    private static Terms weight(Stage stage, int weight) {
        return stage.environment().simulated() ? Terms.weight(weight).with("turn", "25ms") : Terms.weight(weight);
    }

    private static String priority(Stage stage) {
        Bounds bounds = Bounds.of(stage.environment());
        double alone = PriorityBench.tail(together(stage, List.of(new Part(Terms.NONE, PriorityBench.BURSTS))).getFirst());
        List<Witness> both = together(stage, List.of(
                new Part(Terms.priority("high"), PriorityBench.BURSTS), new Part(Terms.priority("low"), LAUNCHES)));
        Outcome outcome = Outcome.of(both.get(0), both.get(1));
        String seen = "bursts of 2 ms done in " + Nanos.format(outcome.tailNanos()) + " (p99; alone " + Nanos.format(alone)
                + "), low got " + Percent.format(outcome.left()) + " of the rest";
        Expect.that(outcome.tailNanos() <= bounds.responseFactor() * alone + bounds.responseNanos(),
                seen + String.format(Locale.ROOT, "; expected at most %.2f × alone + %s", bounds.responseFactor(), Nanos.format(bounds.responseNanos())));
        Expect.that(outcome.left() >= bounds.leastLeft(), seen + ", expected at least " + Percent.format(bounds.leastLeft()));
        return seen;
    }

    private static String exclusive(Stage stage) {
        Part part = new Part(Terms.exclusive("5ms"), LAUNCHES);
        HandOvers passed = HandOvers.of(together(stage, List.of(part, part)).stream().map(Witness::stamps).toList());
        long expected = Math.round(SECONDS * 1000 / 5);
        Expect.that(passed.count() > expected / 4 && passed.count() < expected * 3 / 2,
                passed.count() + " hand-overs, expected about " + expected + " with turns of 5 ms");
        Expect.that(passed.gap(0) >= 0, "two tenants were on the GPU together for " + Nanos.format(-passed.gap(0)));
        long most = Bounds.of(stage.environment()).handOverNanos();
        Expect.that(passed.gap(0.5) <= most, "a hand-over took " + Nanos.format(passed.gap(0.5)) + " (median), expected at most " + Nanos.format(most));
        return passed.count() + " hand-overs, median " + Nanos.format(passed.gap(0.5)) + ", p99 " + Nanos.format(passed.gap(0.99));
    }

    private static String killed(Stage stage) {
        long nanos = Recovery.nanos(worker(stage, Recovery.VICTIM, Recovery.SECONDS), worker(stage, Recovery.SURVIVOR, Recovery.SECONDS));
        long most = Bounds.of(stage.environment()).recoveryNanos();
        Expect.that(nanos <= most, "the other went on after " + Nanos.format(nanos) + ", expected at most " + Nanos.format(most));
        return "the other went on after " + Nanos.format(nanos);
    }

    private static List<Witness> together(Stage stage, List<Part> parts) {
        List<Worker> workers = new ArrayList<>();
        for (Part part : parts) {
            workers.add(worker(stage, part, SECONDS));
        }
        return go(workers);
    }

    private static Worker worker(Stage stage, Part part, double seconds) {
        return new Worker(stage, stage.busy(part.terms()), part.load(), seconds);
    }

    private static List<Witness> go(List<Worker> workers) {
        workers.forEach(Worker::go);
        return workers.stream().map(Worker::witness).toList();
    }
}
