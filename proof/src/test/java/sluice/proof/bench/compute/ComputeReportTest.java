package sluice.proof.bench.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sluice.proof.bench.Chart;
import sluice.proof.bench.compute.WeightBench.Split;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Load;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Terms;
import sluice.region.limits.Limit;

class ComputeReportTest {
    private final Environment nowhere = new Environment(Path.of("/no/library.so"), Optional.empty());
    private final List<String> said = new ArrayList<>();
    private final ComputeReport report = new ComputeReport("H200", false, "16 threads", 12, 5,
            List.of(new ResultTable("cap", "About caps.", List.of("alone", "got"), List.of(
                    new Row("25 %, launch loop 10 µs", List.of("99.9 %", "24.9 %"), "±1", true),
                    new Row("50 %, a \"graph\"", List.of("99.9 %", "80.0 %"), "±1", false)))), Map.of());

    @Test
    void shouldWriteATableWithAVerdictForEachRow() {
        assertThat(report.markdown()).contains("GPU: H200; 16 threads; runs of 12 s, 5 interleaved repeats", "## cap\nAbout caps.\n",
                "| | alone | got | target | |\n|---|---:|---:|---|---|\n",
                "| 25 %, launch loop 10 µs | 99.9 % | 24.9 % | ±1 | met |", "| 80.0 % | ±1 | missed |");
        assertThat(report.noneMissed()).isFalse();
    }

    @Test
    void shouldWriteJson() {
        assertThat(report.json()).contains("\"gpu\": \"H200\", \"simulated\": false", "\"table\": \"cap\", \"columns\": [\"alone\", \"got\"]",
                "{\"name\": \"50 %, a \\\"graph\\\"\", \"cells\": [\"99.9 %\", \"80.0 %\"], \"target\": \"±1\", \"met\": false}");
    }

    @Test
    void shouldChooseTablesAndRows() {
        ComputeRun run = run(List.of("cap/25/graph", "lock", "cap/10us"));
        assertThat(run.wants("cap", "25 %, graph of 100 10 µs")).isTrue();
        assertThat(run.wants("cap", "50 %, launch loop 10 µs")).isTrue();
        assertThat(run.wants("cap", "50 %, launch loop 1 ms")).isFalse();
        assertThat(run.wants("lock", "anything")).isTrue();
        assertThat(run.wants("cost", "anything")).isFalse();
        assertThat(run(List.of()).wants("cost", "anything")).isTrue();
    }

    @Test
    void shouldRefuseATableThatIsNotThere() {
        assertThatThrownBy(() -> ComputeBench.run(nowhere, options(List.of("caps/25")), said::add, report -> { }, Writer.nullWriter()))
                .hasMessage("there is no table 'caps/25'; there are cap, weights, priority, lock, cost");
    }

    @Test
    void shouldGoOnWhenARepeatFails() {
        ComputeRun run = run(List.of());
        run.attempt("cap", "row", 2, () -> {
            throw new CheckFailed("the probe died");
        });
        assertThat(said).containsExactly("cap row, repeat 2 failed: the probe died");
        assertThat(run.judged("cap", "row", 2, 0, () -> null))
                .isEqualTo(new Row("row", List.of("failed: the probe died", "-"), "-", false));
    }

    @Test
    void shouldJudgeWhatIsThereAndSayWhatIsMissing() {
        ComputeRun run = run(List.of());
        Row good = new Row("row", List.of("25.0 %", "met"), "±1", true);
        assertThat(run.judged("cap", "row", 2, 5, () -> good)).isEqualTo(good);
        assertThat(run.judged("cap", "row", 2, 3, () -> good)).isEqualTo(new Row("row", good.cells(), "±1; 3 of 5 repeats", true));
        assertThat(run.judged("cap", "row", 2, 0, () -> good)).isEqualTo(new Row("row", List.of("not run", "-"), "-", false));
        run.attempt("cap", "row", 4, () -> {
            throw new IllegalStateException("broken");
        });
        assertThat(run.judged("cap", "row", 2, 4, () -> good)).isEqualTo(
                new Row("row", good.cells(), "±1; 4 of 5 repeats; one failed: java.lang.IllegalStateException: broken", false));
    }

    @Test
    void shouldMeasureAloneAgainWhatLeavesTheGpuIdle() {
        ComputeRun run = run(List.of());
        Load load = new Load(Load.Kind.SYNCED, 10_000);
        assertThat(isWanted(run, load, 1)).isTrue();
        assertThat(isWanted(run, load, 2)).isFalse();
        run.failures().put("cap/alone: " + load.text(), "it died");
        assertThat(isWanted(run, load, 2)).isTrue();
        run.alone().put(load, List.of(0.5));
        assertThat(isWanted(run, load, 1)).isFalse();
        assertThat(isWanted(run, load, 2)).isTrue();
        run.alone().put(load, List.of(0.99));
        assertThat(isWanted(run, load, 2)).isFalse();
    }

    private static boolean isWanted(ComputeRun run, Load load, int repeat) {
        return run.aloneStep("cap", load, repeat).wanted().getAsBoolean();
    }

    @Test
    void shouldGoOnAfterABadStepAndKeepToItsLimit() {
        List<String> done = new ArrayList<>();
        StepRunner runner = new StepRunner(run(List.of()));
        runner.run("cap", List.of(
                step("bad", 1, () -> {
                    throw new CheckFailed("gone");
                }),
                step("unwanted", 1, () -> done.add("unwanted")).onlyIf(() -> false),
                step("good", 1, () -> done.add("good")),
                step("long", 1e9, () -> done.add("long"))), () -> done.add("kept"));
        assertThat(done).containsExactly("kept", "good", "kept");
        assertThat(said).contains("cap bad, repeat 1 failed: gone");
        assertThat(runner.summary()).startsWith("2 steps in 0 s").endsWith("1 steps not begun within the limit");
    }

    private static Step step(String row, double seconds, Runnable body) {
        return new Step(row, 1, List.of(), seconds, () -> true, none -> body.run());
    }

    @Test
    void shouldPlanWithoutAGpu() {
        ComputeBench.Options options = options(List.of("cap/25/graph", "lock/100us", "lock/SIGKILL"));
        assertThat(ComputeBench.plan(nowhere, options)).containsExactly(
                "cap: alone: graph of 100 10 µs, 5 × 2.0 s", "cap: 25 %, graph of 100 10 µs, 5 × 12.0 s",
                "lock: 2 tenants, turns of 100 µs, 5 × 12.0 s", "lock: SIGKILL of the holder, 5 × 3.0 s", "about 156 s in all");
    }

    @Test
    void shouldStartAheadOnlyForTheTablesThatWantIt() {
        List<String> rows = List.of("cap/25/graph", "lock/100us");
        assertThat(ComputeBench.plan(nowhere, options(rows, Set.of("cap")))).last().isEqualTo("about 130 s in all");
        assertThat(ComputeBench.plan(nowhere, options(rows, Set.of("lock")))).last().isEqualTo("about 131 s in all");
        assertThat(ComputeBench.undisturbedByStarts(nowhere)).isSubsetOf("cap");
        assertThat(ComputeBench.undisturbedByStarts(new Environment(Path.of("/no/library.so"), Optional.of(Path.of("/no/sim"))))).isEmpty();
    }

    @Test
    void shouldKeepEveryValue() {
        StringWriter csv = new StringWriter();
        new RawLog(csv).addAll("cap", "25 %, graph", 1, 0, "second", List.of(0.25, 0.2512345));
        assertThat(csv.toString()).isEqualTo("""
                table,row,repeat,tenant,quantity,at,value
                cap,"25 %, graph",1,0,second,0.000,0.250000
                cap,"25 %, graph",1,0,second,1.000,0.251235
                """);
    }

    @Test
    void shouldCompareSharesWithWeights() {
        assertThat(new Split(List.of(0.72, 0.24), 0.96).ratioError(List.of(3, 1))).isCloseTo(0, within(1e-9));
        assertThat(new Split(List.of(0.1, 0.2, 0.5), 0.8).ratioError(List.of(1, 2, 4))).isCloseTo(0.2, within(1e-9));
    }

    @Test
    void shouldSpeakToTheCommandLineAndToTheLibrary() {
        Terms terms = Terms.exclusive("5ms").with(Limit.COMPUTE, "25%");
        assertThat(terms.options()).containsExactly("--exclusive", "--turn", "5ms", "--compute", "25%");
        assertThat(terms.variables())
                .isEqualTo(Map.of("SLUICE_EXCLUSIVE", "1", "SLUICE_TURN", "5ms", "SLUICE_COMPUTE", "25%"));
    }

    @Test
    void shouldDrawLines() {
        String svg = new Chart("Shares & more", "µs", "%").logarithmic()
                .lines(List.of(new Chart.Series("25 %").add(10, 1).add(1000, -2), new Chart.Series("nothing"))).svg();
        assertThat(svg).startsWith("<svg").endsWith("</svg>\n").contains("Shares &amp; more", ">25 %<", ">10<", ">1000<", ">-2<")
                .doesNotContain("nothing", "NaN", "Infinity");
    }

    private ComputeRun run(List<String> only) {
        return new ComputeRun(nowhere, options(only), said::add, new RawLog(Writer.nullWriter()));
    }

    private static ComputeBench.Options options(List<String> only) {
        return options(only, Set.of());
    }

    private static ComputeBench.Options options(List<String> only, Set<String> ahead) {
        return new ComputeBench.Options(only, 12, 5, 1e6, ahead, Path.of("/no/sluice"));
    }
}
