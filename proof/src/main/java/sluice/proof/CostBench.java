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
final class CostBench {
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

    private CostBench() {}

    private static Subject launches(String name, Function<Stage, Map<String, String>> settings, double mostNanos) {
        return new Subject(new Case("empty kernels back to back, " + name, "launch 200", 12, new AddedAtMost(mostNanos)), settings);
    }

    private static Subject replays(String name, Function<Stage, Map<String, String>> settings) {
        return new Subject(new Case("replay of a graph of " + Load.GRAPH_KERNELS + ", " + name, "replay 20", 4, new RatioAtMost(1.01)), settings);
    }

    static Table run(ComputeRun run) {
        Map<Subject, Measurement> found = new LinkedHashMap<>();
        SUBJECTS.stream().filter(subject -> run.wants(WORD, subject.one().name())).forEach(subject -> found.put(subject,
                new Measurement(subject.one().name(), "no library", new ArrayList<>(), new ArrayList<>(), subject.one().target())));
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((subject, into) -> run.attempt(WORD, into.name(), repeat, () -> measure(run, subject, into, repeat)));
        }
        return new Table(WORD, "Time of a call, pinned to one processor, in turns with a process without the library.",
                COLUMNS, found.values().stream().map(one -> run.judged(WORD, one.name(), COLUMNS.size(), () -> row(one))).toList());
    }

    private static void measure(ComputeRun run, Subject subject, Measurement into, int repeat) {
        try (Stage stage = new Stage(run.environment())) {
            Map<String, String> limited = stage.preloaded();
            limited.putAll(subject.settings().apply(stage));
            CallBench.measure(subject.one(), CallBench.open(stage, stage.plainSettings()), CallBench.open(stage, limited),
                    into.without(), into.with());
            run.raw().add(WORD, into.name(), repeat, 0, "without-nanos", 0, into.without().getLast());
            run.raw().add(WORD, into.name(), repeat, 0, "with-nanos", 0, into.with().getLast());
            run.say("cost " + into.name() + ", repeat " + repeat + ": " + Nanos.format(into.without().getLast()) + " "
                    + Nanos.signed(into.with().getLast() - into.without().getLast()));
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
