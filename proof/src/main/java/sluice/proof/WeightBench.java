package sluice.proof;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import sluice.proof.ComputeRun.Part;
import sluice.proof.Load.Kind;

/// Shares in proportion to weights while several tenants want the GPU all the time.
final class WeightBench {
    static final String WORD = "weights";
    private static final Load MILLISECOND = new Load(Kind.LAUNCHES, 1_000_000);
    private static final Load SHORT = new Load(Kind.LAUNCHES, 50_000);
    private static final Load LONG = new Load(Kind.LAUNCHES, 5_000_000);

    static final List<String> COLUMNS = List.of("shares", "ratio off by", "together, of one alone", "new share after");

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
    record Split(List<Double> shares, double busy) {

        static Split of(List<Witness> tenants) {
            long from = tenants.stream().mapToLong(Witness::settled).max().orElseThrow();
            long to = tenants.stream().mapToLong(Witness::ended).min().orElseThrow();
            Stamps all = tenants.stream().map(Witness::stamps).reduce(Stamps::and).orElseThrow();
            return new Split(tenants.stream().map(one -> one.busy().share(from, to)).toList(), Busy.of(all).share(from, to));
        }

        /// The greatest relative error of the first tenant's share against another's, less their weights.
        double ratioError(List<Integer> weights) {
            return IntStream.range(1, shares.size())
                    .mapToDouble(i -> Math.abs(shares.get(0) / shares.get(i) * weights.get(i) / weights.get(0) - 1))
                    .max().orElse(0);
        }

        String text() {
            return shares.stream().map(Percent::format).collect(Collectors.joining(" : "));
        }
    }

    private WeightBench() {}

    static Table run(ComputeRun run, Map<String, String> plots) {
        List<Case> cases = CASES.stream().filter(one -> run.wants(WORD, one.name())).toList();
        Map<Case, List<Split>> found = new LinkedHashMap<>();
        cases.forEach(one -> found.put(one, new ArrayList<>()));
        cases.forEach(one -> one.loads().forEach(run::alone));
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((one, all) -> run.attempt(WORD, one.name(), repeat, () -> all.add(split(run, one, repeat))));
        }
        List<Row> rows = new ArrayList<>();
        found.forEach((one, splits) -> rows.add(
                run.judged(WORD, one.name(), COLUMNS.size(), () -> row(run, one, splits))));
        rows.addAll(JoinBench.rows(run, plots));
        return new Table(WORD, "Share of each tenant while all want the GPU; together against one alone without the library. The ratio is that of "
                + "shares against that of weights, in every repeat. A share is new when two rounds of turns have it within 10 %.",
                COLUMNS, rows);
    }

    private static Split split(ComputeRun run, Case one, int repeat) {
        List<Part> parts = IntStream.range(0, one.weights().size())
                .mapToObj(i -> new Part(Terms.weight(one.weights().get(i)), one.loads().get(i)))
                .toList();
        List<Witness> tenants = run.together(parts, run.seconds());
        Split split = Split.of(tenants);
        for (int i = 0; i < tenants.size(); i++) {
            run.raw().add(WORD, one.name(), repeat, i, "share", 0, split.shares().get(i));
            run.raw().addAll(WORD, one.name(), repeat, i, "second", tenants.get(i).seconds());
        }
        run.raw().add(WORD, one.name(), repeat, -1, "busy", 0, split.busy());
        run.say("weights " + one.name() + ", repeat " + repeat + ": " + split.text() + ", together " + Percent.format(split.busy()));
        return split;
    }

    private static Row row(ComputeRun run, Case one, List<Split> splits) {
        double alone = one.loads().stream().mapToDouble(run::alone).min().orElseThrow();
        double error = splits.stream().mapToDouble(split -> split.ratioError(one.weights())).max().orElseThrow();
        List<Double> sums = splits.stream().map(split -> split.busy() / alone).toList();
        double bound = one.equal() ? run.bounds().ratioError() : run.bounds().unequalError();
        return new Row(one.name(), List.of(splits.getFirst().text(), Percent.format(error), Percent.spread(sums), "-"),
                String.format(Locale.ROOT, "≤ %.0f %%, ≥ %.0f %%", bound * 100, run.bounds().leastSum() * 100),
                error <= bound && Spread.of(sums).minimum() >= run.bounds().leastSum());
    }
}
