package sluice.proof.bench.compute;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.Spread;
import sluice.proof.bench.compute.ComputeRun.Part;
import sluice.proof.facts.Load;
import sluice.proof.facts.Load.Kind;
import sluice.proof.stage.Terms;

/// Tenants that have the GPU for themselves, one after the other, also when a tenant is killed during its turn.
final class LockBench implements TableMaker {
    static final String WORD = "lock";
    private static final String KILLED = "SIGKILL of the holder";
    private static final Load WORK = new Load(Kind.LAUNCHES, 100_000);
    private static final Load SHORT_WORK = new Load(Kind.LAUNCHES, 20_000);
    private static final double FAIR = 0.8;
    private static final List<String> COLUMNS = List.of("hand-overs", "median", "p99", "longest", "turns, least and most");

    /// What a turn of 100 µs, of which the last kernel may be longer, and a hand-over take, with room to spare.
    private static final double COUNTED_SECONDS = 500e-6;
    private static final double MOST_SECONDS = 45;

    /// @param counted whether many hand-overs are counted
    private record Case(int tenants, String turn, Load load, boolean counted) {
        String name() {
            return tenants + " tenants, turns of " + turn.replace("us", " µs").replace("ms", " ms");
        }
    }

    private static final List<Case> CASES = List.of(
            new Case(2, "1ms", WORK, false), new Case(4, "1ms", WORK, false), new Case(16, "1ms", WORK, false),
            new Case(2, "100us", SHORT_WORK, true));

    private final ComputeRun run;
    private final Map<Case, List<HandOvers>> found = new LinkedHashMap<>();
    private final List<Double> recoveries = new ArrayList<>();

    LockBench(ComputeRun run) {
        this.run = run;
        CASES.stream().filter(one -> run.wants(WORD, one.name())).forEach(one -> found.put(one, new ArrayList<>()));
    }

    private boolean kills() {
        return run.wants(WORD, KILLED);
    }

    @Override
    public List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((one, all) -> steps.add(Step.together(one.name(), repeat,
                    Collections.nCopies(one.tenants(), new Part(Terms.exclusive(one.turn()), one.load())), seconds(one),
                    tenants -> all.add(passed(one, repeat, tenants)))));
            if (kills()) {
                steps.add(new Step(KILLED, repeat, List.of(Recovery.VICTIM, Recovery.SURVIVOR), Recovery.SECONDS, () -> true,
                        both -> recoveries.add(recovery(both, repeat))));
            }
        }
        return steps;
    }

    /// Long enough for the hand-overs that are to be counted, in all repeats together.
    private double seconds(Case one) {
        double needed = one.counted() ? run.bounds().leastHandOvers() * COUNTED_SECONDS / run.repeats() + 1 : 0;
        return Math.min(MOST_SECONDS, Math.max(run.seconds(), needed));
    }

    @Override
    public ResultTable table() {
        List<Row> rows = new ArrayList<>();
        found.forEach((one, all) -> rows.add(run.judged(WORD, one.name(), COLUMNS.size(), all.size(), () -> row(one, all))));
        if (kills()) {
            rows.add(run.judged(WORD, KILLED, COLUMNS.size(), recoveries.size(), this::killedRow));
        }
        return new ResultTable(WORD, "From the end of one tenant's last kernel to the begin of the next one's first, changing contexts included "
                + "(139 µs on an H200), after the first second; all repeats together. None lost: all tenants got the GPU equally often, within 20 %, "
                + "none had to wait longer than " + Nanos.format(run.bounds().lostNanos()) + " for it, and never two were on it.",
                COLUMNS, rows);
    }

    private HandOvers passed(Case one, int repeat, List<Witness> tenants) {
        HandOvers passed = HandOvers.settled(tenants);
        run.raw().add(WORD, one.name(), repeat, -1, "hand-overs", 0, passed.count());
        run.raw().add(WORD, one.name(), repeat, -1, "least-nanos", 0, passed.gap(0));
        run.raw().add(WORD, one.name(), repeat, -1, "median-nanos", 0, passed.gap(0.5));
        run.raw().add(WORD, one.name(), repeat, -1, "p99-nanos", 0, passed.gap(0.99));
        run.raw().add(WORD, one.name(), repeat, -1, "longest-nanos", 0, passed.gap(1));
        for (int i = 0; i < passed.turns().length; i++) {
            run.raw().add(WORD, one.name(), repeat, i, "turns", 0, passed.turns()[i]);
        }
        run.say("lock " + one.name() + ", repeat " + repeat + ": " + passed.count() + " hand-overs, median " + Nanos.format(passed.gap(0.5))
                + ", longest " + Nanos.format(passed.gap(1)));
        return passed;
    }

    private double recovery(List<Worker> both, int repeat) {
        double nanos = Recovery.nanos(both.get(0), both.get(1));
        run.raw().add(WORD, KILLED, repeat, 1, "recovery-nanos", 0, nanos);
        run.say("lock " + KILLED + ", repeat " + repeat + ": " + Nanos.format(nanos));
        return nanos;
    }

    private Row row(Case one, List<HandOvers> all) {
        long[] gaps = all.stream().flatMapToLong(each -> Arrays.stream(each.gaps())).sorted().toArray();
        HandOvers together = new HandOvers(gaps, new int[0]);
        int[] turns = all.stream().flatMapToInt(each -> Arrays.stream(each.turns())).sorted().toArray();
        Bounds bounds = run.bounds();
        int least = one.counted() ? bounds.leastHandOvers() : 1;
        boolean lost = !all.stream().allMatch(LockBench::isFair) || together.gap(1) > bounds.lostNanos() || together.gap(0) < 0;
        return new Row(one.name(), List.of(String.format(Locale.ROOT, "%,d", gaps.length), Nanos.format(together.gap(0.5)),
                Nanos.format(together.gap(0.99)), Nanos.format(together.gap(1)), turns[0] + " … " + turns[turns.length - 1]),
                (least > 1 ? String.format(Locale.ROOT, "≥ %,d, ", least) : "") + "median ≤ " + Nanos.format(bounds.handOverNanos()) + ", none lost",
                gaps.length >= least && together.gap(0.5) <= bounds.handOverNanos() && !lost);
    }

    private static boolean isFair(HandOvers passed) {
        int[] turns = Arrays.stream(passed.turns()).sorted().toArray();
        return turns[0] >= FAIR * turns[turns.length - 1];
    }

    private Row killedRow() {
        Spread spread = Spread.of(recoveries);
        return new Row(KILLED, List.of(recoveries.size() + " kills", Nanos.format(spread.median()), "-", Nanos.format(spread.maximum()), "-"),
                "≤ " + Nanos.format(run.bounds().recoveryNanos()), spread.maximum() <= run.bounds().recoveryNanos());
    }
}
