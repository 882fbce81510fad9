package sluice.proof.bench.latency;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.bench.compute.ResultTable;
import sluice.proof.bench.compute.Row;
import sluice.proof.bench.compute.Step;
import sluice.proof.bench.compute.TableMaker;
import sluice.proof.bench.compute.Witness;
import sluice.proof.facts.Load;
import sluice.proof.stage.Terms;

/// Bursts of high priority every 20 ms beside tenants that always have work.
public final class LatencyBench implements TableMaker {
    /// Of this benchmark's only table.
    public static final String WORD = "latency";
    private static final double MOST_FACTOR = 1.2;
    private static final double LEAST_KEPT = 0.95;
    private static final List<String> COLUMNS = List.of("p50", "p90", "p99", "most", "p99 / alone", "others keep");

    /// @param kept the other tenants' part of the time that the bursts leave, relative to their speed without the bursts; NaN: not known
    private record Found(Latency bursts, double kept) {}

    /// @param kernelNanos how long a kernel of the bursts takes
    private record Alone(Latency bursts, double kernelNanos) {}

    private final ComputeRun run;
    private final Map<Place, List<Found>> found = new LinkedHashMap<>();
    private final Map<Place.Beside, List<Double>> speeds = new LinkedHashMap<>();
    private final Map<Load, List<Alone>> alone = new LinkedHashMap<>();

    private LatencyBench(ComputeRun run) {
        this.run = run;
        for (Place place : Place.ALL) {
            if (run.wants(WORD, place.text())) {
                found.put(place, new ArrayList<>());
                speeds.putIfAbsent(place.beside(), new ArrayList<>());
                alone.putIfAbsent(place.bursts(), new ArrayList<>());
            }
        }
    }

    public static Map<String, Function<ComputeRun, TableMaker>> tables() {
        return Map.of(WORD, LatencyBench::new);
    }

    /// Whether there is a row with these parts in its name: `50 ms/1 tenant`.
    public static boolean hasRow(String parts) {
        return Place.ALL.stream().anyMatch(place -> ComputeRun.isNamed(WORD + "/" + parts, WORD, place.text()));
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            alone.keySet().forEach(load -> steps.add(Step.together(Place.text(load) + " alone", repeat, List.of(new Part(Terms.NONE, load)), run.seconds(),
                    one -> alone(load, repeat, one.getFirst()))));
            for (Place.Beside beside : speeds.keySet()) {
                steps.add(Step.together(beside.text(), repeat, beside.others().parts(beside.way()), run.seconds(), all -> withoutBursts(beside, repeat, all)));
                found.keySet().stream().filter(place -> place.beside().equals(beside)).forEach(place -> steps.add(
                        Step.together(place.text(), repeat, place.parts(), run.seconds(), all -> beside(place, repeat, all))));
            }
        }
        return steps;
    }

    private void alone(Load load, int repeat, Witness bursts) {
        Latency latency = Latency.of(bursts.responses());
        alone.get(load).add(new Alone(latency, Latency.kernelNanos(bursts)));
        note(Place.text(load) + " alone", repeat, bursts);
        run.say(Place.text(load) + " alone, repeat " + repeat + ": p99 " + Nanos.format(latency.p99()));
    }

    private void withoutBursts(Place.Beside beside, int repeat, List<Witness> all) {
        double speed = Latency.speed(all, from(all), to(all));
        speeds.get(beside).add(speed);
        run.raw().add(WORD, beside.text(), repeat, -1, "kernels-per-second", 0, speed);
    }

    private void beside(Place place, int repeat, List<Witness> all) {
        Witness bursts = all.getFirst();
        Latency latency = Latency.of(bursts.responses());
        double speed = Latency.speed(all.subList(1, all.size()), from(all), to(all));
        double kept = kept(place, speed, Latency.speed(List.of(bursts), from(all), to(all)));
        found.get(place).add(new Found(latency, kept));
        note(place.text(), repeat, bursts);
        run.raw().add(WORD, place.text(), repeat, -1, "kernels-per-second", 0, speed);
        run.raw().add(WORD, place.text(), repeat, -1, "kept", 0, kept);
        run.say(place.text() + ", repeat " + repeat + ": p99 " + Nanos.format(latency.p99()) + ", the others keep " + percent(kept));
    }

    /// @param burstKernels of the bursts, in a second
    private double kept(Place place, double speed, double burstKernels) {
        List<Double> without = speeds.get(place.beside());
        List<Alone> base = alone.get(place.bursts());
        double left = base.isEmpty() ? 0 : 1 - burstKernels * Spread.of(base.stream().map(Alone::kernelNanos).toList()).median() / 1e9;
        return without.isEmpty() || left <= 0 ? Double.NaN : speed / Spread.of(without).median() / left;
    }

    private void note(String row, int repeat, Witness bursts) {
        run.raw().addAll(WORD, row, repeat, 0, "response-nanos", bursts.responses().stream().map(Long::doubleValue).toList());
    }

    private static long from(List<Witness> all) {
        return all.stream().mapToLong(Witness::settled).max().orElseThrow();
    }

    private static long to(List<Witness> all) {
        return all.stream().mapToLong(Witness::ended).min().orElseThrow();
    }

    @Override
    public ResultTable table() {
        List<Row> rows = new ArrayList<>();
        alone.forEach((load, all) -> {
            String name = Place.text(load) + " alone";
            rows.add(run.judged(WORD, name, COLUMNS.size(), all.size(), () -> row(name, load, all.stream().map(Alone::bursts).toList(), List.of(), false)));
        });
        found.forEach((place, all) -> rows.add(run.judged(WORD, place.text(), COLUMNS.size(), Math.min(all.size(), alone.get(place.bursts()).size()),
                () -> row(place.text(), place.bursts(), all.stream().map(Found::bursts).toList(), all.stream().map(Found::kept).toList(), isJudged(place)))));
        return new ResultTable(WORD, "Bursts of high priority every 20 ± 1 ms: how long one takes until it is done, after the first second. Others keep: their speed "
                + "against their speed without the bursts, of what the bursts leave. Alone and 'no library' are without Sluice; elsewhere all have quotas.", COLUMNS, rows);
    }

    /// A simulated GPU runs on the processors of the programs that use it, and is late when these are busy.
    private boolean isJudged(Place place) {
        return place.way().isJudged() && !run.environment().simulated();
    }

    private Row row(String name, Load load, List<Latency> bursts, List<Double> kept, boolean judged) {
        double factor = median(bursts, Latency::p99) / median(alone.get(load).stream().map(Alone::bursts).toList(), Latency::p99);
        double keep = kept.isEmpty() ? Double.NaN : Spread.of(kept).median();
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("p50Nanos", median(bursts, Latency::p50));
        values.put("p90Nanos", median(bursts, Latency::p90));
        values.put("p99Nanos", median(bursts, Latency::p99));
        values.put("mostNanos", bursts.stream().mapToDouble(Latency::most).max().orElseThrow());
        List<String> cells = new ArrayList<>(values.values().stream().map(Nanos::format).toList());
        cells.add(String.format(Locale.ROOT, "%.2f", factor));
        cells.add(percent(keep));
        values.put("p99OfAlone", factor);
        if (!Double.isNaN(keep)) {
            values.put("othersKeep", keep);
        }
        String target = judged ? String.format(Locale.ROOT, "p99 ≤ %.2f × alone, others keep ≥ %.0f %%", MOST_FACTOR, 100 * LEAST_KEPT) : "";
        return new Row(name, cells, target, !judged || factor <= MOST_FACTOR && keep >= LEAST_KEPT, values);
    }

    private static double median(List<Latency> all, ToDoubleFunction<Latency> value) {
        return Spread.of(all.stream().mapToDouble(value).boxed().toList()).median();
    }

    private static String percent(double part) {
        return Double.isNaN(part) ? "-" : PercentText.format(part);
    }
}
