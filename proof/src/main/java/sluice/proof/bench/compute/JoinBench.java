package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.bench.Chart;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.stage.Terms;

/// A tenant joins another at work and leaves again: how soon both have their new shares.
final class JoinBench {
    private static final String NAME = "one joins, one leaves, 1 ms kernels";
    private static final Load LOAD = new Load(Kind.LAUNCHES, 1_000_000);
    private static final long TURN_NANOS = 10_000_000;
    private static final long WINDOW_NANOS = 4 * TURN_NANOS;
    private static final long STEP_NANOS = 1_000_000;
    private static final long SEARCH_NANOS = 1_000_000_000;
    private static final double HALF = 0.5;
    private static final double TOLERANCE = 0.1;
    private static final int TURNS = 2;

    /// @param joinNanos  until the new tenant has half of the GPU
    /// @param leaveNanos until the tenant that stays has all of it
    private record Change(double joinNanos, double leaveNanos) {}

    private final ComputeRun run;
    private final List<Change> changes = new ArrayList<>();
    private final Map<String, String> plots = new HashMap<>();

    JoinBench(ComputeRun run) {
        this.run = run;
    }

    private boolean wanted() {
        return run.wants(WeightBench.WORD, NAME);
    }

    List<Load> loads() {
        return wanted() ? List.of(LOAD) : List.of();
    }

    List<Step> steps(int repeat) {
        double seconds = Math.max(3, run.seconds());
        return wanted() ? List.of(new Step(NAME, repeat, List.of(new Part(Terms.weight(1), LOAD), new Part(Terms.weight(1), LOAD, seconds / 3)),
                seconds, () -> true, workers -> play(workers, seconds, repeat))) : List.of();
    }

    List<Row> rows() {
        return wanted() ? List.of(run.judged(WeightBench.WORD, NAME, WeightBench.COLUMNS.size(), changes.size(), this::row)) : List.of();
    }

    Map<String, String> plots() {
        return plots;
    }

    private Row row() {
        Spread joins = Spread.of(changes.stream().map(Change::joinNanos).toList());
        Spread leaves = Spread.of(changes.stream().map(Change::leaveNanos).toList());
        long allowed = TURNS * TURN_NANOS + (run.environment().simulated() ? 10 * TURN_NANOS : 0);
        return new Row(NAME, List.of("-", "-", "-", text(joins.median(), leaves.median()) + " (most " + text(joins.maximum(), leaves.maximum()) + ")"),
                String.format(Locale.ROOT, "≤ %s", Nanos.format(allowed)), Math.max(joins.maximum(), leaves.maximum()) <= allowed);
    }

    private void play(List<Worker> workers, double seconds, int repeat) {
        Worker stays = workers.get(0).go();
        try {
            Thread.sleep((long) (seconds * 1000 / 3));
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
        Worker comes = workers.get(1).go();
        List<Witness> both = List.of(stays.witness(), comes.witness());
        changes.add(change(both, repeat));
        plots.putIfAbsent("weights-join", picture(both));
    }

    private Change change(List<Witness> both, int repeat) {
        Witness stays = both.get(0);
        Witness comes = both.get(1);
        double alone = run.alone(LOAD);
        long left = comes.busy().ends()[comes.busy().ends().length - 1];
        Change change = new Change(
                after(comes.began(), at -> Math.abs(comes.busy().share(at, at + WINDOW_NANOS) - HALF) <= HALF * TOLERANCE),
                after(left, at -> stays.busy().share(at, at + WINDOW_NANOS) >= alone * (1 - TOLERANCE)));
        run.raw().add(WeightBench.WORD, NAME, repeat, 1, "join-nanos", 0, change.joinNanos());
        run.raw().add(WeightBench.WORD, NAME, repeat, 0, "leave-nanos", 0, change.leaveNanos());
        run.say("weights " + NAME + ", repeat " + repeat + ": " + text(change.joinNanos(), change.leaveNanos()));
        return change;
    }

    private interface Test {
        boolean holds(long moment);
    }

    /// How long after a moment a condition holds for the first time.
    private static double after(long moment, Test test) {
        for (long later = 0; later < SEARCH_NANOS; later += STEP_NANOS) {
            if (test.holds(moment + later)) {
                return later;
            }
        }
        return SEARCH_NANOS;
    }

    private static String text(double joinNanos, double leaveNanos) {
        return Nanos.format(joinNanos) + " joining, " + Nanos.format(leaveNanos) + " leaving";
    }

    private static String picture(List<Witness> both) {
        double later = (both.get(1).began() - both.get(0).began()) / 1e9;
        return new Chart("One joins, one leaves: share of the GPU's time", "seconds", "%")
                .lines(List.of(WitnessShares.of(both.get(0)).line("stays", 0), WitnessShares.of(both.get(1)).line("comes and goes", later)))
                .svg();
    }
}
