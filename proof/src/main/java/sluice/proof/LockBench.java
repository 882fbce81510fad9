package sluice.proof;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sluice.proof.ComputeRun.Part;
import sluice.proof.Load.Kind;

/// Tenants that have the GPU for themselves, one after the other, and what happens when one is killed while it has it.
final class LockBench {
    static final String WORD = "lock";
    private static final String KILLED = "SIGKILL of the holder";
    private static final Load WORK = new Load(Kind.LAUNCHES, 100_000);
    private static final Load SHORT_WORK = new Load(Kind.LAUNCHES, 20_000);
    private static final double FAIR = 0.8;
    private static final List<String> COLUMNS = List.of("hand-overs", "median", "p99", "turns, least and most");

    private record Case(int tenants, String turn, Load load) {
        String name() {
            return tenants + " tenants, turns of " + turn;
        }
    }

    private static final List<Case> CASES = List.of(
            new Case(2, "1ms", WORK), new Case(4, "1ms", WORK), new Case(16, "1ms", WORK), new Case(2, "100us", SHORT_WORK));

    private LockBench() {}

    static Table run(ComputeRun run) {
        List<Case> cases = CASES.stream().filter(one -> run.wants(WORD, one.name())).toList();
        Map<Case, List<HandOvers>> found = new LinkedHashMap<>();
        cases.forEach(one -> found.put(one, new ArrayList<>()));
        List<Double> recoveries = new ArrayList<>();
        boolean kills = run.wants(WORD, KILLED);
        for (int i = 1; i <= run.repeats(); i++) {
            int repeat = i;
            found.forEach((one, all) -> run.attempt(WORD, one.name(), repeat, () -> all.add(passed(run, one, repeat))));
            if (kills) {
                run.attempt(WORD, KILLED, repeat, () -> recoveries.add(recovery(run, repeat)));
            }
        }
        List<Row> rows = new ArrayList<>();
        found.forEach((one, all) -> rows.add(run.judged(WORD, one.name(), COLUMNS.size(), () -> row(run, one, all))));
        if (kills) {
            rows.add(run.judged(WORD, KILLED, COLUMNS.size(), () -> killedRow(run, recoveries)));
        }
        return new Table(WORD, "From the end of one tenant's last kernel to the begin of the next one's first, changing contexts included "
                + "(139 µs on an H200); all repeats together. None lost: all tenants got the GPU equally often, within 20 %.",
                COLUMNS, rows);
    }

    private static HandOvers passed(ComputeRun run, Case one, int repeat) {
        List<Part> parts = Collections.nCopies(one.tenants(), new Part(Terms.exclusive(one.turn()), one.load()));
        HandOvers passed = HandOvers.of(run.together(parts, run.seconds()).stream().map(Witness::stamps).toList());
        run.raw().add(WORD, one.name(), repeat, -1, "hand-overs", 0, passed.count());
        run.raw().add(WORD, one.name(), repeat, -1, "median-nanos", 0, passed.gap(0.5));
        run.raw().add(WORD, one.name(), repeat, -1, "p99-nanos", 0, passed.gap(0.99));
        run.say("lock " + one.name() + ", repeat " + repeat + ": " + passed.count() + " hand-overs, median " + Nanos.format(passed.gap(0.5)));
        return passed;
    }

    private static double recovery(ComputeRun run, int repeat) {
        try (Stage stage = new Stage(run.environment())) {
            double nanos = Recovery.nanos(run.worker(stage, Recovery.VICTIM, Recovery.SECONDS), run.worker(stage, Recovery.SURVIVOR, Recovery.SECONDS));
            run.raw().add(WORD, KILLED, repeat, 1, "recovery-nanos", 0, nanos);
            run.say("lock " + KILLED + ", repeat " + repeat + ": " + Nanos.format(nanos));
            return nanos;
        }
    }

    private static Row row(ComputeRun run, Case one, List<HandOvers> all) {
        long[] gaps = all.stream().flatMapToLong(each -> Arrays.stream(each.gaps())).sorted().toArray();
        HandOvers together = new HandOvers(gaps, new int[0]);
        int[] turns = all.stream().flatMapToInt(each -> Arrays.stream(each.turns())).sorted().toArray();
        boolean fair = turns[0] >= FAIR * turns[turns.length - 1];
        return new Row(one.name(), List.of(String.valueOf(gaps.length), Nanos.format(together.gap(0.5)), Nanos.format(together.gap(0.99)),
                turns[0] + " … " + turns[turns.length - 1]),
                String.format(Locale.ROOT, "median ≤ %s, none lost", Nanos.format(run.bounds().handOverNanos())),
                gaps.length > 0 && together.gap(0.5) <= run.bounds().handOverNanos() && fair);
    }

    private static Row killedRow(ComputeRun run, List<Double> recoveries) {
        Spread spread = Spread.of(recoveries);
        return new Row(KILLED, List.of(recoveries.size() + " kills", Nanos.format(spread.median()), Nanos.format(spread.maximum()) + " (most)", "-"),
                "≤ " + Nanos.format(run.bounds().recoveryNanos()), spread.maximum() <= run.bounds().recoveryNanos());
    }
}
