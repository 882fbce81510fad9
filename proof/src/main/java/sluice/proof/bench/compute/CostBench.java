package sluice.proof.bench.compute;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import sluice.proof.bench.Measurement;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.Pairs;
import sluice.proof.bench.Quartiles;
import sluice.proof.bench.Spread;
import sluice.proof.bench.Target;
import sluice.proof.bench.Target.AddedAtMost;
import sluice.proof.bench.Target.RatioAtMost;
import sluice.proof.bench.Verdict;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Load;
import sluice.proof.stage.ProbeCommand;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Recording;
import sluice.proof.stage.Stage;
import sluice.proof.stage.Terms;

/// The cost of Sluice for a program that it does not delay.
///
/// Two processes differ by 100 ns for reasons of their own, so both ways are measured in one: the program lib/test/paired calls
/// through the library, as any program does, in turns with the driver's own functions. Each repeat has a fresh process. `sluice
/// bench` has a launch next to a process without the library.
final class CostBench implements TableMaker {
    static final String WORD = "cost";
    private static final List<String> COLUMNS = List.of("without", "with", "added", "middle half of the pairs", "ratio");
    private static final String PROGRAM = "paired";
    private static final String SOME_CALLS = "trivial 1 1";
    /// A block is longer than the half millisecond for which the gate gives credit. So every block contains the cost of that.
    private static final String LAUNCHES = "launch 200 600";
    /// A simulated GPU works on processors, too, and gets in the way of longer blocks.
    private static final String SIMULATED_LAUNCHES = "launch 20 4000";
    private static final String REPLAYS = "replay 20 200";
    private static final String TRIVIAL = "trivial 1000 400";
    private static final double SECONDS = 1.5;
    private static final Map<String, String> QUOTA = Map.of("SLUICE_MEMORY", "8g");
    private static final Map<String, String> CAP = Terms.compute(99).variables();
    private static final Map<String, String> WEIGHT = Terms.weight(2).variables();

    /// @param series   what the program is asked for: the call, how many in a block, how many pairs of blocks
    /// @param recorded whether `sluice trace` records the program
    private record Subject(String name, String series, Target target, boolean recorded, Function<Stage, Map<String, String>> settings) {}

    private static final List<Subject> SUBJECTS = List.of(
            of("cuCtxGetDevice, memory quota only", TRIVIAL, new AddedAtMost(60), QUOTA),
            launches("memory quota only", 60, QUOTA),
            launches("cap not reached", 100, CAP),
            launches("weight, alone on the GPU", 100, WEIGHT),
            new Subject("cuCtxGetDevice, traced to a folder", TRIVIAL, new AddedAtMost(100), false, CostBench::traced),
            new Subject("empty kernels back to back, traced to a folder", LAUNCHES, new AddedAtMost(100), false, CostBench::traced),
            new Subject("empty kernels back to back, traced by sluice trace", LAUNCHES, new AddedAtMost(100), true, stage -> QUOTA),
            replays("cap not reached", CAP),
            replays("weight, alone on the GPU", WEIGHT));

    /// @param added of every pair of blocks
    private record Found(Measurement repeats, List<Double> added) {}

    private final ComputeRun run;
    private final Map<Subject, Found> found = new LinkedHashMap<>();

    private static Map<String, String> traced(Stage stage) {
        return Map.of("SLUICE_TRACE", stage.file("spool").toString());
    }

    private static Subject of(String name, String series, Target target, Map<String, String> settings) {
        return new Subject(name, series, target, false, stage -> settings);
    }

    private static Subject launches(String name, double mostNanos, Map<String, String> settings) {
        return of("empty kernels back to back, " + name, LAUNCHES, new AddedAtMost(mostNanos), settings);
    }

    private static Subject replays(String name, Map<String, String> settings) {
        return of("replay of a graph of " + Load.GRAPH_KERNELS + ", " + name, REPLAYS, new RatioAtMost(1.01), settings);
    }

    CostBench(ComputeRun run) {
        this.run = run;
        SUBJECTS.stream().filter(subject -> run.wants(WORD, subject.name())).forEach(subject -> found.put(subject, new Found(
                new Measurement(subject.name(), "the driver's own function", new ArrayList<>(), new ArrayList<>(), subject.target()),
                new ArrayList<>())));
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((subject, into) -> steps.add(new Step(subject.name(), repeat, List.of(), SECONDS, () -> true,
                    none -> add(subject, into, repeat, measure(subject)))));
        }
        return steps;
    }

    @Override
    public ResultTable table() {
        return new ResultTable(WORD, "Time of a call through the library and by the driver's own function, in turns of some calls within one process, pinned "
                + "to one processor; added is the median of the differences of neighbouring turns, of each repeat.", COLUMNS, found.values().stream()
                .map(one -> run.judged(WORD, one.repeats().name(), COLUMNS.size(), one.repeats().with().size(), () -> row(one))).toList());
    }

    private Pairs measure(Subject subject) {
        Path program = run.environment().library().resolveSibling("test").resolve(PROGRAM);
        Expect.that(Files.isExecutable(program), program + " is missing; build or install Sluice again");
        try (Stage stage = new Stage(run.environment())) {
            Map<String, String> settings = stage.preloaded();
            settings.putAll(subject.settings().apply(stage));
            if (run.environment().simulated()) {
                // As on a real GPU, where the host takes longer for a launch than the GPU for an empty kernel; else shares would hold it back.
                settings.put("SLUICE_SIM_LAUNCH", "2200ns");
            }
            ProbeProcess probe = stage.launch(ProbeCommand.pinned(List.of(program.toString())), settings);
            Expect.that(probe.maps(run.environment().library()), run.environment().library() + " is not loaded by LD_PRELOAD");
            String series = run.environment().simulated() ? subject.series().replace(LAUNCHES, SIMULATED_LAUNCHES) : subject.series();
            return subject.recorded() ? recorded(stage, probe, series) : Pairs.of(probe.ask(series));
        }
    }

    private Pairs recorded(Stage stage, ProbeProcess probe, String series) {
        probe.ask(SOME_CALLS);
        try (Recording recording = new Recording(stage, run.options().launcher(), probe)) {
            recording.awaitRings(() -> probe.ask(SOME_CALLS));
            Pairs pairs = Pairs.of(probe.ask(series));
            probe.kill();
            recording.expectAll();
            return pairs;
        }
    }

    private void add(Subject subject, Found into, int repeat, Pairs pairs) {
        into.repeats().without().add(pairs.typicalWithout());
        into.repeats().with().add(pairs.typicalWithout() + pairs.typicalAdded());
        into.added().addAll(pairs.added());
        run.raw().addAll(WORD, subject.name(), repeat, 0, "without-nanos", pairs.without());
        run.raw().addAll(WORD, subject.name(), repeat, 0, "with-nanos", pairs.with());
        run.say("cost " + subject.name() + ", repeat " + repeat + ": " + Nanos.format(pairs.typicalWithout()) + " "
                + Nanos.signed(pairs.typicalAdded()));
    }

    private static Row row(Found one) {
        Measurement repeats = one.repeats();
        Spread added = repeats.added();
        Quartiles half = Quartiles.of(one.added());
        return new Row(repeats.name(), List.of(
                Nanos.format(Spread.of(repeats.without()).median()),
                Nanos.format(Spread.of(repeats.with()).median()),
                Nanos.signed(added.median()) + " (" + Nanos.signed(added.minimum()) + " … " + Nanos.signed(added.maximum()) + ")",
                Nanos.signed(half.lower()) + " … " + Nanos.signed(half.upper()),
                String.format(Locale.ROOT, "%.3f×", repeats.ratio().median())),
                repeats.target().text(), repeats.verdict() == Verdict.MET);
    }
}
