package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import sluice.proof.bench.PercentText;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.facts.Stamps;
import sluice.proof.stage.Terms;

/// Shares in proportion to weights while several tenants want the GPU all the time.
@SuppressWarnings("exports")
public final class WeightBench implements TableMaker {
    static final String WORD = "weights";
    private static final Load MILLISECOND = new Load(Kind.LAUNCHES, 1_000_000);
    private static final Load SHORT = new Load(Kind.LAUNCHES, 50_000);
    private static final Load LONG = new Load(Kind.LAUNCHES, 5_000_000);

    static final List<String> COLUMNS = List.of("shares, median", "ratio off by, most", "together, of one alone", "new share after");

    /// @param loads one for each weight
    private record Case(String name, List<Integer> weights, List<Load> loads) {
        boolean equal() {
            return loads.stream().distinct().count() == 1;
        }
    }

    private static final List<Case> CASES = List.of(
            new Case("1:1, 1 ms kernels", List.of(1, 1), List.of(MILLISECOND, MILLISECOND)),
            new Case("3:1, 1 ms kernels", List.of(3, 1), List.of(MILLISECOND, MILLISECOND)),
            new Case("1:2:4, 1 ms kernels", List.of(1, 2, 4), List.of(MILLISECOND, MILLISECOND, MILLISECOND)),
            new Case("1:1, 50 µs against 5 ms kernels", List.of(1, 1), List.of(SHORT, LONG)),
            new Case("3:1, 50 µs against 5 ms kernels", List.of(3, 1), List.of(SHORT, LONG)));

    /// @param shares of each tenant, in the time in which all of them wanted the GPU
    /// @param busy   share of all together
    public record Split(List<Double> shares, double busy) {

        public static Split of(List<Witness> tenants) {
            long from = tenants.stream().mapToLong(Witness::settled).max().orElseThrow();
            long to = tenants.stream().mapToLong(Witness::ended).min().orElseThrow();
            Stamps all = tenants.stream().map(Witness::stamps).reduce(Stamps::and).orElseThrow();
            return new Split(tenants.stream().map(one -> one.busy().share(from, to)).toList(), Busy.of(all).share(from, to));
        }

        /// The greatest relative error of the first tenant's share against another's, less their weights.
        public double ratioError(List<Integer> weights) {
            return IntStream.range(1, shares.size())
                    .mapToDouble(i -> Math.abs(shares.get(0) / shares.get(i) * weights.get(i) / weights.get(0) - 1))
                    .max().orElse(0);
        }

        public String text() {
            return shares.stream().map(PercentText::format).collect(Collectors.joining(" : "));
        }
    }

    private final ComputeRun run;
    private final Map<Case, List<Split>> found = new LinkedHashMap<>();
    private final JoinBench join;

    WeightBench(ComputeRun run) {
        this.run = run;
        join = new JoinBench(run);
        CASES.stream().filter(one -> run.wants(WORD, one.name())).forEach(one -> found.put(one, new ArrayList<>()));
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            Stream.concat(found.keySet().stream().flatMap(one -> one.loads().stream()), join.loads().stream()).distinct()
                    .forEach(load -> steps.add(run.aloneStep(WORD, load, repeat)));
            found.forEach((one, all) -> steps.add(Step.together(one.name(), repeat, parts(one), run.seconds(),
                    tenants -> all.add(split(one, repeat, tenants)))));
            steps.addAll(join.steps(repeat));
        }
        return steps;
    }

    @Override
    public ResultTable table() {
        List<Row> rows = new ArrayList<>();
        found.forEach((one, splits) -> rows.add(run.judged(WORD, one.name(), COLUMNS.size(), splits.size(), () -> row(one, splits))));
        rows.addAll(join.rows());
        return new ResultTable(WORD, "Share of each tenant while all want the GPU; together against one alone without the library. The ratio is that of "
                + "shares against that of weights, in every repeat. A share is new when two rounds of turns have it within 10 %.",
                COLUMNS, rows);
    }

    @Override
    public Map<String, String> plots() {
        return join.plots();
    }

    private static List<Part> parts(Case one) {
        return IntStream.range(0, one.weights().size())
                .mapToObj(i -> new Part(Terms.weight(one.weights().get(i)), one.loads().get(i)))
                .toList();
    }

    private Split split(Case one, int repeat, List<Witness> tenants) {
        Split split = Split.of(tenants);
        for (int i = 0; i < tenants.size(); i++) {
            run.raw().add(WORD, one.name(), repeat, i, "share", 0, split.shares().get(i));
            run.raw().addAll(WORD, one.name(), repeat, i, "second", tenants.get(i).seconds());
        }
        run.raw().add(WORD, one.name(), repeat, -1, "busy", 0, split.busy());
        run.say("weights " + one.name() + ", repeat " + repeat + ": " + split.text() + ", together " + PercentText.format(split.busy()));
        return split;
    }

    private Row row(Case one, List<Split> splits) {
        double alone = one.loads().stream().mapToDouble(run::alone).min().orElseThrow();
        double error = splits.stream().mapToDouble(split -> split.ratioError(one.weights())).max().orElseThrow();
        List<Double> sums = splits.stream().map(split -> split.busy() / alone).toList();
        double bound = one.equal() ? run.bounds().ratioError() : run.bounds().unequalError();
        return new Row(one.name(), List.of(medians(splits), PercentText.format(error), PercentText.spread(sums), "-"),
                String.format(Locale.ROOT, "≤ %.0f %%, ≥ %.0f %%", bound * 100, run.bounds().leastSum() * 100),
                error <= bound && Spread.of(sums).minimum() >= run.bounds().leastSum());
    }

    private static String medians(List<Split> splits) {
        return new Split(IntStream.range(0, splits.getFirst().shares().size())
                .mapToObj(i -> Spread.of(splits.stream().map(split -> split.shares().get(i)).toList()).median())
                .toList(), 0).text();
    }
}
