package sluice.proof.checks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.compute.Bounds;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.bench.compute.HandOvers;
import sluice.proof.bench.compute.PriorityBench;
import sluice.proof.bench.compute.PriorityBench.Outcome;
import sluice.proof.bench.compute.Recovery;
import sluice.proof.bench.compute.WeightBench.Split;
import sluice.proof.bench.compute.Witness;
import sluice.proof.bench.compute.Worker;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.probe.WorkCommands;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.Terms;
import sluice.region.limits.Limit;

/// Shares of the GPU's time, witnessed by stamps of the kernels themselves: each check looks at a second and a half after
/// the first one. `sluice bench compute` measures the same at length.
public final class ComputeChecks {
    private static final double SECONDS = 2.5;
    private static final long MILLISECOND = 1_000_000;
    private static final Load LAUNCHES = new Load(Kind.LAUNCHES, MILLISECOND);
    private static final int CAPTURED = 1000;
    private static final int CAPTURE_CAP = 10;
    private static final double MOST_DIVIDED = 0.2;
    private static final double STARVED = 0.2;

    private ComputeChecks() {}

    public static List<Check> checks() {
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
        return new Check(Group.COMPUTE, name, body).timed();
    }

    private static Check cap(int percent, Load load) {
        return check("a cap of " + percent + " % holds for " + load.text(), stage -> {
            List<Witness> one = together(stage, List.of(new Part(Terms.compute(percent), load)));
            return held("it", one, one.getFirst().share(), percent, stage);
        });
    }

    /// A tenant that gets too much always fails the check.
    private static String held(String who, List<Witness> witnesses, double share, int percent, Stage stage) {
        double points = Bounds.of(stage.environment()).windowPoints();
        String seen = who + " got " + PercentText.format(share) + " of the GPU's time";
        String otherwise = seen + String.format(Locale.ROOT, ", the cap is %d %% ± %.0f", percent, points);
        Expect.safe(share * 100 <= percent + points, otherwise);
        return unlessStarved(stage, witnesses, () -> {
            Expect.that(share * 100 >= percent - points, otherwise);
            return seen;
        });
    }

    /// A simulated GPU works as fast as the machine lets it and its programs: without processors it can show nothing.
    private static String unlessStarved(Stage stage, List<Witness> witnesses, Supplier<String> judgement) {
        try {
            return judgement.get();
        } catch (CheckFailed failed) {
            double starved = witnesses.stream().mapToDouble(Witness::starved).max().orElse(0);
            if (stage.environment().simulated() && starved > STARVED) {
                throw new CheckSkipped("the machine is too busy, programs waited for a processor for " + PercentText.format(starved)
                        + " of the time: " + failed.getMessage());
            }
            throw failed;
        }
    }

    private static String shared(Stage stage) {
        Map<String, String> tenant = Map.of("SLUICE_TENANT", "shared");
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            workers.add(new Worker(stage, stage.busy(Terms.compute(50), tenant), LAUNCHES, SECONDS));
        }
        List<Witness> both = go(workers);
        Split split = Split.of(both);
        String seen = held("both together", both, split.busy(), 50, stage);
        return unlessStarved(stage, both, () -> {
            split.shares().forEach(share -> Expect.that(share > 0.02, "one of them got next to nothing: " + split.text()));
            return seen;
        });
    }

    private static String capture(Stage stage) {
        ProbeProcess probe = stage.busy(Terms.compute(CAPTURE_CAP));
        Facts facts = probe.ask("capture", CAPTURED);
        Expect.bytes("kernels in the captured graph that ran", CAPTURED, facts.number("kernels"));
        long millis = facts.number("micros") / 1000;
        Expect.that(millis < 200, "the capture of " + CAPTURED + " launches took " + millis + " ms: something waited");
        long least = WorkCommands.BUSY_NANOS / 1_000_000 * 100 / CAPTURE_CAP * 2 / 3;
        long all = facts.number("all-micros") / 1000;
        Expect.safe(all >= least, "all was done in " + all + " ms, less than " + least + ": the cap was not used up");
        return CAPTURED + " launches captured in " + facts.number("micros") + " µs while the cap was used up";
    }

    private static String weights(Stage stage, int first, int second) {
        Bounds bounds = Bounds.of(stage.environment());
        List<Witness> both = together(stage, List.of(new Part(weight(stage, first), LAUNCHES), new Part(weight(stage, second), LAUNCHES)));
        Split split = Split.of(both);
        long most = Math.round(3 * 2 * SECONDS * 1000 / ((first + second) * turnMillis(stage)));
        int handOvers = HandOvers.of(both.stream().map(Witness::stamps).toList()).count();
        double error = split.ratioError(List.of(first, second));
        String seen = split.text() + ", together " + PercentText.format(split.busy());
        return unlessStarved(stage, both, () -> {
            Expect.that(error <= bounds.ratioError(),
                    seen + String.format(Locale.ROOT, ": the ratio is off by %.1f %%, more than %.0f %%", error * 100, bounds.ratioError() * 100));
            Expect.that(split.busy() >= bounds.leastSum(), seen + ", expected at least " + PercentText.format(bounds.leastSum()));
            Expect.that(handOvers <= most, handOvers + " hand-overs, expected at most " + most + ": they took no turns");
            return seen;
        });
    }

    /// On the simulated GPU, a tenant that gets the turn may wake up late. That counts less in longer turns.
    private static int turnMillis(Stage stage) {
        return stage.environment().simulated() ? 25 : 10;
    }

    private static Terms weight(Stage stage, int weight) {
        return Terms.weight(weight).with(Limit.TURN, turnMillis(stage) + "ms");
    }

    private static String priority(Stage stage) {
        Bounds bounds = Bounds.of(stage.environment());
        double alone = PriorityBench.tail(together(stage, List.of(new Part(Terms.NONE, PriorityBench.BURSTS))).getFirst());
        List<Witness> both = together(stage, List.of(
                new Part(Terms.priority("high"), PriorityBench.BURSTS), new Part(Terms.priority("low"), LAUNCHES)));
        Outcome outcome = Outcome.of(both.get(0), both.get(1));
        String seen = "bursts of 2 ms done in " + Nanos.format(outcome.tailNanos()) + " (p99; alone " + Nanos.format(alone)
                + "), low got " + PercentText.format(outcome.left()) + " of the rest";
        return unlessStarved(stage, both, () -> {
            Expect.that(outcome.tailNanos() <= bounds.responseFactor() * alone + bounds.responseNanos(),
                    seen + String.format(Locale.ROOT, "; expected at most %.2f × alone + %s", bounds.responseFactor(), Nanos.format(bounds.responseNanos())));
            Expect.that(outcome.left() >= bounds.leastLeft(), seen + ", expected at least " + PercentText.format(bounds.leastLeft()));
            Expect.that(outcome.divided() <= MOST_DIVIDED,
                    seen + "; in the middle of " + PercentText.format(outcome.divided()) + " of the bursts low ran: they did not go first");
            return seen;
        });
    }

    private static String exclusive(Stage stage) {
        Part part = new Part(Terms.exclusive("5ms"), LAUNCHES);
        List<Witness> both = together(stage, List.of(part, part));
        HandOvers passed = HandOvers.of(both.stream().map(Witness::stamps).toList());
        long expected = Math.round(SECONDS * 1000 / 5);
        Expect.safe(passed.gap(0) >= 0, "two tenants were on the GPU together for " + Nanos.format(-passed.gap(0)));
        long most = Bounds.of(stage.environment()).handOverNanos();
        return unlessStarved(stage, both, () -> {
            Expect.that(passed.count() > expected / 4 && passed.count() < expected * 3 / 2,
                    passed.count() + " hand-overs, expected about " + expected + " with turns of 5 ms");
            Expect.that(passed.gap(0.5) <= most, "a hand-over took " + Nanos.format(passed.gap(0.5)) + " (median), expected at most " + Nanos.format(most));
            return told(passed);
        });
    }

    private static String told(HandOvers passed) {
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
        workers.forEach(Worker::calibrate);
        workers.forEach(Worker::go);
        return workers.stream().map(Worker::witness).toList();
    }
}
