package sluice.proof;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import sluice.proof.CallBench.Case;
import sluice.proof.Target.AddedAtMost;
import sluice.proof.Target.RatioAtMost;

/// What shares cost a program that is not held back by them, next to no library at all.
final class CostBench implements TableMaker {
    static final String WORD = "cost";
    private static final List<String> COLUMNS = List.of("without", "with", "added", "ratio");

    private record Subject(Case one, Function<Stage, Map<String, String>> settings) {}

    private static final List<Subject> SUBJECTS = List.of(
            launches("memory quota only", stage -> Map.of("SLUICE_MEMORY", "8g"), 60),
            launches("cap not reached", stage -> Terms.compute(99).variables(), 100),
            launches("weight, alone on the GPU", stage -> Terms.weight(2).variables(), 100),
            launches("traced", stage -> Map.of("SLUICE_TRACE", stage.file("trace").toString()), 100),
            replays("cap not reached", stage -> Terms.compute(99).variables()),
            replays("weight, alone on the GPU", stage -> Terms.weight(2).variables()));

    /// Both warm up for 0.3 s, then take turns.
    private static final double SECONDS = 1.5;

    private final ComputeRun run;
    private final Map<Subject, Measurement> found = new LinkedHashMap<>();
    private Stage bareStage;
    private ProbeProcess bare;

    private static Subject launches(String name, Function<Stage, Map<String, String>> settings, double mostNanos) {
        return new Subject(new Case("empty kernels back to back, " + name, "launch 200", 12, new AddedAtMost(mostNanos)), settings);
    }

    private static Subject replays(String name, Function<Stage, Map<String, String>> settings) {
        return new Subject(new Case("replay of a graph of " + Load.GRAPH_KERNELS + ", " + name, "replay 20", 4, new RatioAtMost(1.01)), settings);
    }

    CostBench(ComputeRun run) {
        this.run = run;
        SUBJECTS.stream().filter(subject -> run.wants(WORD, subject.one().name())).forEach(subject -> found.put(subject,
                new Measurement(subject.one().name(), "no library", new ArrayList<>(), new ArrayList<>(), subject.one().target())));
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((subject, into) -> steps.add(new Step(into.name(), repeat, List.of(), SECONDS, () -> true,
                    none -> measure(subject, into, repeat))));
        }
        return steps;
    }

    @Override
    public Table table() {
        return new Table(WORD, "Time of a call, pinned to one processor, in turns with a process without the library.", COLUMNS, found.values().stream()
                .map(one -> run.judged(WORD, one.name(), COLUMNS.size(), one.with().size(), () -> row(one))).toList());
    }

    /// A fresh process without the library for each repeat, and a fresh one with it for each row of it.
    private void measure(Subject subject, Measurement into, int repeat) {
        boolean good = false;
        try (Stage stage = new Stage(run.environment())) {
            if (bare == null) {
                bareStage = new Stage(run.environment());
                bare = CallBench.open(bareStage, bareStage.plainSettings());
            }
            Map<String, String> limited = stage.preloaded();
            limited.putAll(subject.settings().apply(stage));
            CallBench.measure(subject.one(), bare, CallBench.open(stage, limited), into.without(), into.with());
            good = true;
            run.raw().add(WORD, into.name(), repeat, 0, "without-nanos", 0, into.without().getLast());
            run.raw().add(WORD, into.name(), repeat, 0, "with-nanos", 0, into.with().getLast());
            run.say("cost " + into.name() + ", repeat " + repeat + ": " + Nanos.format(into.without().getLast()) + " "
                    + Nanos.signed(into.with().getLast() - into.without().getLast()));
        } finally {
            if (!good || subject.equals(lastSubject())) {
                endBare();
            }
        }
    }

    private Subject lastSubject() {
        return List.copyOf(found.keySet()).getLast();
    }

    private void endBare() {
        bare = null;
        if (bareStage != null) {
            bareStage.close();
            bareStage = null;
        }
    }

    private static Row row(Measurement one) {
        Spread added = one.added();
        return new Row(one.name(), List.of(
                Nanos.format(Spread.of(one.without()).median()),
                Nanos.format(Spread.of(one.with()).median()),
                Nanos.signed(added.median()) + " (" + Nanos.signed(added.minimum()) + " … " + Nanos.signed(added.maximum()) + ")",
                String.format(Locale.ROOT, "%.3f×", one.ratio().median())),
                one.target().text(), one.verdict() == Verdict.MET);
    }
}
