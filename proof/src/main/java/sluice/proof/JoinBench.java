package sluice.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.ComputeRun.Part;
import sluice.proof.Load.Kind;

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

    /// @param joinNanos  until the one that came has half of the GPU
    /// @param leaveNanos until the one that stays has all of it
    private record Change(double joinNanos, double leaveNanos) {}

    private JoinBench() {}

    static List<Row> rows(ComputeRun run, Map<String, String> plots) {
        if (!run.wants(WeightBench.WORD, NAME)) {
            return List.of();
        }
        List<Change> changes = new ArrayList<>();
        double alone = run.alone(LOAD);
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            run.attempt(WeightBench.WORD, NAME, repeat, () -> {
                List<Witness> both = play(run);
                changes.add(change(run, both, alone, repeat));
                plots.putIfAbsent("weights-join", picture(both));
            });
        }
        return List.of(run.judged(WeightBench.WORD, NAME, WeightBench.COLUMNS.size(), () -> row(run, changes)));
    }

    private static Row row(ComputeRun run, List<Change> changes) {
        double worst = changes.stream().mapToDouble(change -> Math.max(change.joinNanos(), change.leaveNanos())).max().orElseThrow();
        long allowed = TURNS * TURN_NANOS + (run.environment().simulated() ? 10 * TURN_NANOS : 0);
        return new Row(NAME, List.of("-", "-", "-", text(changes.get(changes.size() / 2))),
                String.format(Locale.ROOT, "≤ %s", Nanos.format(allowed)), worst <= allowed);
    }

    private static List<Witness> play(ComputeRun run) {
        double seconds = Math.max(3, run.seconds());
        try (Stage stage = new Stage(run.environment())) {
            Worker stays = run.worker(stage, new Part(Terms.weight(1), LOAD), seconds);
            Worker comes = run.worker(stage, new Part(Terms.weight(1), LOAD), seconds / 3);
            stays.go();
            Thread.sleep((long) (seconds * 1000 / 3));
            comes.go();
            return List.of(stays.witness(), comes.witness());
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
    }

    private static Change change(ComputeRun run, List<Witness> both, double alone, int repeat) {
        Witness stays = both.get(0);
        Witness comes = both.get(1);
        long left = comes.busy().ends()[comes.busy().ends().length - 1];
        Change change = new Change(
                after(comes.began(), at -> Math.abs(comes.busy().share(at, at + WINDOW_NANOS) - HALF) <= HALF * TOLERANCE),
                after(left, at -> stays.busy().share(at, at + WINDOW_NANOS) >= alone * (1 - TOLERANCE)));
        run.raw().add(WeightBench.WORD, NAME, repeat, 1, "join-nanos", 0, change.joinNanos());
        run.raw().add(WeightBench.WORD, NAME, repeat, 0, "leave-nanos", 0, change.leaveNanos());
        run.say("weights " + NAME + ", repeat " + repeat + ": " + text(change));
        return change;
    }

    private interface Test {
        boolean holds(long moment);
    }

    /// How long after a moment something holds for the first time.
    private static double after(long moment, Test test) {
        for (long later = 0; later < SEARCH_NANOS; later += STEP_NANOS) {
            if (test.holds(moment + later)) {
                return later;
            }
        }
        return SEARCH_NANOS;
    }

    private static String text(Change change) {
        return Nanos.format(change.joinNanos()) + " joining, " + Nanos.format(change.leaveNanos()) + " leaving";
    }

    private static String picture(List<Witness> both) {
        double later = (both.get(1).began() - both.get(0).began()) / 1e9;
        return new Chart("One joins, one leaves: share of the GPU's time", "seconds", "%")
                .lines(List.of(Shares.of(both.get(0)).line("stays", 0), Shares.of(both.get(1)).line("comes and goes", later)))
                .svg();
    }
}
