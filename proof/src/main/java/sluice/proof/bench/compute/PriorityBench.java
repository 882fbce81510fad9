package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.facts.Stamps;
import sluice.proof.stage.Terms;

/// Short bursts of a high priority beside endless work of a low one.
@SuppressWarnings("exports")
public final class PriorityBench implements TableMaker {
    static final String WORD = "priority";
    public static final Load BURSTS = new Load(Kind.BURSTS, 1_000_000);
    private static final List<Load> LOW = List.of(new Load(Kind.LAUNCHES, 1_000_000), new Load(Kind.GRAPH, 10_000));
    private static final double TAIL = 0.99;
    private static final List<String> COLUMNS = List.of("high alone, p99", "high, p99", "low, of what is left");

    /// @param tailNanos 99 % of the bursts are done in this time
    /// @param left      the part of what the bursts leave that the other tenant got
    /// @param divided   the part of the bursts in the middle of which the other tenant's work ran
    public record Outcome(double tailNanos, double left, double divided) {

        public static Outcome of(Witness high, Witness low) {
            long from = Math.max(high.settled(), low.settled());
            long to = Math.min(high.ended(), low.ended());
            return new Outcome(tail(high), low.busy().share(from, to) / (1 - high.busy().share(from, to)), divided(high.stamps(), low.busy()));
        }

        private static double divided(Stamps high, Busy low) {
            int bursts = high.count() / Load.BURST_KERNELS;
            int divided = 0;
            for (int i = 0; i < bursts; i++) {
                int last = (i + 1) * Load.BURST_KERNELS - 1;
                divided += low.nanos(high.ends()[i * Load.BURST_KERNELS], high.begins()[last]) > 0 ? 1 : 0;
            }
            return bursts == 0 ? 0 : (double) divided / bursts;
        }
    }

    private final ComputeRun run;
    private final Map<Load, List<Outcome>> found = new LinkedHashMap<>();
    private final List<Double> alone = new ArrayList<>();

    PriorityBench(ComputeRun run) {
        this.run = run;
        LOW.stream().filter(load -> run.wants(WORD, name(load))).forEach(load -> found.put(load, new ArrayList<>()));
    }

    /// Of the bursts after the first second, or after the first half of less than two.
    public static double tail(Witness high) {
        List<Long> all = high.responses();
        int first = Math.min(all.size() / 2, (int) (Witness.SECOND / Load.BURST_PERIOD_NANOS));
        List<Long> sorted = all.stream().skip(first).sorted().toList();
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(TAIL * sorted.size())));
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats() && !found.isEmpty(); i++) {
            int repeat = i;
            steps.add(Step.together("alone", repeat, List.of(new Part(Terms.NONE, BURSTS)), run.seconds(), one -> {
                alone.add(tail(one.getFirst()));
                run.raw().add(WORD, "alone", repeat, 0, "p99-nanos", 0, alone.getLast());
                run.say("priority, high alone, repeat " + repeat + ": p99 " + Nanos.format(alone.getLast()));
            }));
            found.forEach((low, all) -> steps.add(Step.together(name(low), repeat,
                    List.of(new Part(Terms.priority("high"), BURSTS), new Part(Terms.priority("low"), low)), run.seconds(),
                    both -> all.add(outcome(low, repeat, both)))));
        }
        return steps;
    }

    @Override
    public ResultTable table() {
        List<Row> rows = found.entrySet().stream()
                .map(entry -> run.judged(WORD, name(entry.getKey()), COLUMNS.size(), Math.min(entry.getValue().size(), alone.size()),
                        () -> row(entry.getKey(), Spread.of(alone).median(), entry.getValue())))
                .toList();
        return new ResultTable(WORD, "High: 2 ms of work every 20 ms, time until it is done, after the first second; alone without the library. Judged by the "
                + "median of the repeats.", COLUMNS, rows);
    }

    private Outcome outcome(Load low, int repeat, List<Witness> both) {
        Outcome outcome = Outcome.of(both.get(0), both.get(1));
        run.raw().add(WORD, name(low), repeat, 0, "p99-nanos", 0, outcome.tailNanos());
        run.raw().add(WORD, name(low), repeat, 1, "of-left", 0, outcome.left());
        run.raw().add(WORD, name(low), repeat, 1, "bursts-divided", 0, outcome.divided());
        run.say("priority " + name(low) + ", repeat " + repeat + ": p99 " + Nanos.format(outcome.tailNanos())
                + ", low gets " + PercentText.format(outcome.left()) + " of the rest");
        return outcome;
    }

    private static String name(Load low) {
        return "against " + low.text();
    }

    private Row row(Load low, double alone, List<Outcome> outcomes) {
        Bounds bounds = run.bounds();
        Spread tails = Spread.of(outcomes.stream().map(Outcome::tailNanos).toList());
        List<Double> left = outcomes.stream().map(Outcome::left).toList();
        double most = bounds.responseFactor() * alone + bounds.responseNanos();
        return new Row(name(low), List.of(Nanos.format(alone),
                Nanos.format(tails.median()) + " (" + Nanos.format(tails.minimum()) + " … " + Nanos.format(tails.maximum()) + ")",
                PercentText.spread(left)),
                String.format(Locale.ROOT, "≤ %.2f × alone + %s, ≥ %.0f %%", bounds.responseFactor(), Nanos.format(bounds.responseNanos()), bounds.leastLeft() * 100),
                tails.median() <= most && Spread.of(left).median() >= bounds.leastLeft());
    }
}
