package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.bench.Chart;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.stage.Terms;

/// Caps compared with the real busy time of the GPU, for every way to submit work and kernels from 10 µs to 20 ms.
final class CapBench implements TableMaker {
    static final String WORD = "cap";
    private static final List<Integer> PERCENTS = List.of(10, 25, 50, 75);
    private static final List<Long> KERNELS = List.of(10_000L, 50_000L, 1_000_000L, 20_000_000L);

    private static final List<String> COLUMNS = List.of("alone", "got", "run − allowed", "seconds − allowed", "of the allowed");

    /// @param percent of the cap
    private record Case(int percent, Load load) {
        String name() {
            return percent + " %, " + load.text();
        }

        double cap() {
            return percent / 100.0;
        }
    }

    private final ComputeRun run;
    private final Map<Case, List<WitnessShares>> found = new LinkedHashMap<>();

    CapBench(ComputeRun run) {
        this.run = run;
        cases(run).forEach(one -> found.put(one, new ArrayList<>()));
    }

    @Override
    public List<Step> steps() {
        List<Load> loads = found.keySet().stream().map(Case::load).distinct().toList();
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            loads.forEach(load -> steps.add(run.aloneStep(WORD, load, repeat)));
            found.forEach((one, all) -> steps.add(Step.together(one.name(), repeat,
                    List.of(new Part(Terms.compute(one.percent()), one.load())), run.seconds(),
                    seen -> all.add(shares(one, repeat, seen.getFirst())))));
        }
        return steps;
    }

    @Override
    public ResultTable table() {
        List<Row> rows = found.entrySet().stream()
                .map(entry -> run.judged(WORD, entry.getKey().name(), COLUMNS.size(), entry.getValue().size(),
                        () -> row(entry.getKey(), entry.getValue())))
                .toList();
        Bounds bounds = run.bounds();
        return new ResultTable(WORD, String.format(Locale.ROOT, "Share of the time in which the GPU was busy, after the first second; allowed is the "
                        + "cap, or what the load gets alone if that is less. Target, in every repeat: each second within ±%.0f points of the cap and the "
                        + "whole run within ±%.0f, only not more where the load alone does not reach it; and at least %.0f %% of the allowed.", bounds.windowPoints(), bounds.runPoints(), bounds.leastPart() * 100),
                COLUMNS, rows);
    }

    @Override
    public Map<String, String> plots() {
        Map<Case, List<WitnessShares>> some = new LinkedHashMap<>(found);
        some.values().removeIf(List::isEmpty);
        if (some.isEmpty()) {
            return Map.of();
        }
        Map<String, String> plots = new LinkedHashMap<>();
        plots.put("cap-error", errors(some));
        for (int percent : PERCENTS) {
            List<Chart.Series> lines = lines(some, percent);
            if (!lines.isEmpty()) {
                plots.put("cap-share-" + percent, new Chart("Share of the GPU's time under a cap of " + percent + " %", "seconds", "%")
                        .lines(lines).svg());
            }
        }
        return plots;
    }

    private WitnessShares shares(Case one, int repeat, Witness seen) {
        WitnessShares shares = WitnessShares.of(seen);
        run.raw().add(WORD, one.name(), repeat, 0, "share", 0, shares.whole());
        run.raw().addAll(WORD, one.name(), repeat, 0, "second", shares.seconds());
        run.say("cap " + one.name() + ", repeat " + repeat + ": " + PercentText.format(shares.whole()));
        return shares;
    }

    private static List<Case> cases(ComputeRun run) {
        List<Load> loads = new ArrayList<>();
        for (Kind kind : List.of(Kind.LAUNCHES, Kind.SYNCED, Kind.STREAMS)) {
            KERNELS.forEach(nanos -> loads.add(new Load(kind, nanos)));
        }
        loads.add(new Load(Kind.THREADS, 50_000));
        loads.add(new Load(Kind.GRAPH, KERNELS.getFirst()));
        loads.add(new Load(Kind.LENGTHENED, 1_000_000));
        loads.add(new Load(Kind.UPLOADS, 0));
        if (!run.environment().simulated()) {
            loads.add(new Load(Kind.COPIES, 0));
        }
        return loads.stream()
                .flatMap(load -> PERCENTS.stream().map(percent -> new Case(percent, load)))
                .filter(one -> run.wants(WORD, one.name()))
                .toList();
    }

    private Row row(Case one, List<WitnessShares> repeats) {
        double alone = run.alone(one.load());
        double allowed = Math.min(one.cap(), alone);
        List<Double> shares = repeats.stream().map(WitnessShares::whole).toList();
        List<Double> seconds = repeats.stream().flatMap(each -> each.seconds().stream()).toList();
        Spread share = Spread.of(shares);
        Spread second = seconds.isEmpty() ? share : Spread.of(seconds);
        Bounds bounds = run.bounds();
        return new Row(one.name(), List.of(
                PercentText.spread(run.alone().get(one.load())),
                PercentText.spread(shares),
                PercentText.points(share.minimum() - allowed) + " … " + PercentText.points(share.maximum() - allowed),
                PercentText.points(second.minimum() - allowed) + " … " + PercentText.points(second.maximum() - allowed),
                PercentText.format(share.minimum() / allowed)),
                String.format(Locale.ROOT, "±%.0f, ±%.0f, ≥ %.0f %%", bounds.runPoints(), bounds.windowPoints(), bounds.leastPart() * 100),
                holds(one.cap(), alone, share, second, bounds));
    }

    /// Where the load alone does not reach the cap, only its own pace tells how near it comes.
    static boolean holds(double cap, double alone, Spread share, Spread second, Bounds bounds) {
        boolean near = share.minimum() >= cap - bounds.runPoints() / 100 && second.minimum() >= cap - bounds.windowPoints() / 100;
        return (near || alone < cap) && share.minimum() >= Math.min(cap, alone) * bounds.leastPart()
                && share.maximum() <= cap + bounds.runPoints() / 100
                && second.maximum() <= cap + bounds.windowPoints() / 100;
    }

    /// Got less cap against the length of kernels, a line for each cap and kind.
    private static String errors(Map<Case, List<WitnessShares>> found) {
        Map<String, Chart.Series> lines = new LinkedHashMap<>();
        found.forEach((one, repeats) -> {
            if (one.load().kind() != Kind.LENGTHENED && one.load().kernelNanos() > 0) {
                Spread share = Spread.of(repeats.stream().map(WitnessShares::whole).toList());
                lines.computeIfAbsent(one.percent() + " %, " + one.load().kind().text(), Chart.Series::new)
                        .add(one.load().kernelNanos() / 1e3, (share.median() - one.cap()) * 100);
            }
        });
        return new Chart("Share got − cap, in percentage points", "µs per kernel", "points").logarithmic().lines(lines.values()).svg();
    }

    /// Shares over time under one cap, in the first repeat.
    private static List<Chart.Series> lines(Map<Case, List<WitnessShares>> found, int percent) {
        return found.entrySet().stream()
                .filter(entry -> entry.getKey().percent() == percent)
                .map(entry -> entry.getValue().getFirst().line(entry.getKey().load().text(), 0))
                .toList();
    }
}
