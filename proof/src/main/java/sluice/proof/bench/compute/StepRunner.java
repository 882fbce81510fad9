package sluice.proof.bench.compute;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import sluice.proof.facts.CheckFailed;
import sluice.proof.stage.Interruption;

/// Runs steps one after the other. A process takes about as long to start as a short run lasts. So where a table is not disturbed by it,
/// processes are started two steps ahead. They get their contexts in the first second of the run before theirs, which is not judged.
final class StepRunner {
    private static final int MOST_AHEAD = 4;
    private static final double START_SECONDS = 1.2;
    private static final double START_AHEAD_SECONDS = 0.4;
    private static final double NO_PARTS_SECONDS = 2;

    private final ComputeRun run;
    private final long began = System.nanoTime();
    private final Map<Step, Cast> casts = new IdentityHashMap<>();
    private double left;
    private double measured;
    private int taken;
    private int skipped;

    StepRunner(ComputeRun run) {
        this.run = run;
    }

    /// How long steps will take, as far as can be said before.
    double estimate(String table, List<Step> steps) {
        double start = startsAhead(table) ? START_AHEAD_SECONDS : START_SECONDS;
        return steps.stream().filter(step -> step.wanted().getAsBoolean())
                .mapToDouble(step -> step.seconds() + (step.parts().isEmpty() ? NO_PARTS_SECONDS : start)).sum();
    }

    void expect(String table, List<Step> steps) {
        left += estimate(table, steps);
    }

    private boolean startsAhead(String table) {
        return run.options().ahead().contains(table);
    }

    /// @param afterEach runs after each step
    void run(String table, List<Step> steps, Runnable afterEach) {
        try {
            for (int i = 0; i < steps.size(); i++) {
                Step step = steps.get(i);
                left -= estimate(table, List.of(step));
                if (!step.wanted().getAsBoolean()) {
                    continue;
                }
                if (elapsed() + step.seconds() > run.options().limitSeconds()) {
                    skipped++;
                    continue;
                }
                taken++;
                int at = i;
                run.attempt(table, step.row(), step.repeat(), () -> take(table, step, steps.subList(at + 1, steps.size())));
                run.say(String.format(Locale.ROOT, "  %.0f s, about %.0f s left", elapsed(), Math.max(0, left)));
                afterEach.run();
            }
        } finally {
            casts.values().forEach(Cast::close);
            casts.clear();
        }
    }

    private void take(String table, Step step, List<Step> following) {
        if (step.parts().isEmpty()) {
            step.body().accept(List.of());
            return;
        }
        long asked = System.nanoTime();
        try (Cast cast = cast(step)) {
            casts.remove(step);
            List<Worker> workers = cast.ready();
            long ready = System.nanoTime();
            CompletableFuture<Double> ahead = CompletableFuture.supplyAsync(
                    () -> startsAhead(table) ? prepareAhead(following) : 0, Thread::startVirtualThread);
            step.body().accept(workers);
            measured += step.seconds();
            double aheadSeconds = ahead.join();
            run.raw().add(table, step.row(), step.repeat(), -1, "start-seconds", 0, (ready - asked) / 1e9);
            run.raw().add(table, step.row(), step.repeat(), -1, "ahead-seconds", 0, aheadSeconds);
        }
    }

    private Cast cast(Step step) {
        return casts.computeIfAbsent(step, asked -> new Cast(run, asked));
    }

    /// Gives the next step's processes their contexts, and starts the processes of the step after it. Returns how long contexts took. A
    /// failure here comes again when the step runs.
    private double prepareAhead(List<Step> following) {
        long begin = System.nanoTime();
        double contexts = 0;
        try {
            List<Step> next = following.stream().filter(step -> step.wanted().getAsBoolean()).limit(2)
                    .filter(step -> !step.parts().isEmpty() && step.parts().size() <= MOST_AHEAD).toList();
            if (!next.isEmpty()) {
                cast(next.getFirst()).prepare();
                contexts = (System.nanoTime() - begin) / 1e9;
            }
            if (next.size() > 1) {
                cast(next.getLast()).start();
            }
        } catch (CheckFailed later) {
            Interruption.rethrow();
            run.say("  ahead: " + later.getMessage());
        }
        return contexts;
    }

    private double elapsed() {
        return (System.nanoTime() - began) / 1e9;
    }

    String summary() {
        return String.format(Locale.ROOT, "%d steps in %.0f s, %.0f s of it runs of tenants%s", taken, elapsed(), measured,
                skipped > 0 ? "; " + skipped + " steps not begun within the limit" : "");
    }
}
