package sluice.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.cli.tables.MadeUp;
import sluice.cli.top.terminal.TopKey;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limit;

class TopViewTest {
    private static final TopStyle COLOURS = new TopStyle(true, true);
    private static final TopStyle LETTERS = new TopStyle(false, true);
    private static final TopStyle ASCII = new TopStyle(false, false);

    private static String screen(TopLook look, TopState state, int width, int height) {
        return TopMachine.text(TopView.screen(look, state, COLOURS, width, height));
    }

    @Test
    void shouldShowGpusAndTenantsIn80By24() {
        List<String> lines = screen(TopMachine.one(), TopState.FIRST, 80, 24).lines().toList();

        assertThat(lines.getFirst()).startsWith(" sluice top   1 GPU · 3 tenants · 3 processes");
        assertThat(lines.get(2)).startsWith(" GPU 0  NVIDIA H200").endsWith("100 turns/s · 1 of 3 tenants not measured");
        assertThat(lines.get(3)).startsWith(" memory  train 40.0 GiB").contains("░").endsWith("55.0 GiB / 100.0 GiB  55%");
        assertThat(lines.get(4)).startsWith(" time    train 50.0%").contains(" infer").endsWith("in use  75%");
        assertThat(lines.get(6)).contains("TENANT").contains("USED").contains("LIMIT").contains("GOT").contains("ASKED").contains("WAIT").contains("ERRORS");
        assertThat(lines.get(7)).startsWith("› ■ train").contains("40.0 GiB").contains("42.0 GiB").contains("50.0%  50%").contains("20%").contains(" 7");
        assertThat(lines.get(8)).startsWith("  ■ infer").contains("25.0%  w3 high");
        assertThat(lines.get(9)).startsWith("  ■ notes").contains("-");
        assertThat(lines).anyMatch(line -> line.startsWith("╌ ■ train on GPU 0 ╌"));
        assertThat(lines).anyMatch(line -> line.startsWith(" error     7× cuMemAlloc of 4.0 GiB refused"));
        assertThat(lines.getLast()).startsWith(" q quit  h help  s sort");
    }

    @Test
    void shouldShowMoreWhereThereIsRoom() {
        String wide = screen(TopMachine.one(), TopState.FIRST, 200, 60);

        assertThat(wide).contains("PROCS", "OF LIMIT", "PEAK", "TREND", "CALLS/S", "DEBT", "REFUSED", "AGE", "COMMAND", "python notes.py --long");
        assertThat(wide).contains("1001      40.0 GiB  python train.py").contains("50 turns of 10 ms");
    }

    @ParameterizedTest
    @CsvSource({"80,24", "200,60", "40,10", "20,4", "21,5", "120,40", "60,12", "300,100", "5,2", "1,1", "79,7"})
    void shouldNeverBeLargerThanTheTerminal(int width, int height) {
        Tenant tenant = TopMachine.one().rows().getFirst().tenant();
        List<TopMode> modes = List.of(new TopMode.Watching(), new TopMode.Helping(), new TopMode.Filtering(""), new TopMode.Choosing(tenant),
                new TopMode.Editing(tenant, Limit.MEMORY, "1".repeat(90), ""),
                new TopMode.Confirming(tenant, Limit.MEMORY, "6g", LimitsChange.of(Limit.MEMORY, "6g")));
        for (TopLook look : List.of(TopLook.NONE, TopMachine.one(), TopMachine.several(16), TopMachine.crowded(64))) {
            for (TopMode mode : modes) {
                for (TopStyle style : List.of(COLOURS, LETTERS, ASCII)) {
                    List<AttributedString> lines = TopView.screen(look, TopState.FIRST.in(mode).saying("done"), style, width, height);
                    assertThat(lines).hasSizeLessThanOrEqualTo(height).allMatch(line -> line.columnLength() <= width);
                }
            }
        }
    }

    @Test
    void shouldShowEachOfManyGpusOnOneLine() {
        List<String> lines = screen(TopMachine.several(8), TopState.FIRST, 80, 24).lines().toList();

        assertThat(lines.get(1)).startsWith(" GPU memory").contains("time");
        assertThat(lines.get(2)).startsWith("   0  train").endsWith("%");
        assertThat(lines.get(9)).startsWith("   7  other ");
        assertThat(lines).anyMatch(line -> line.startsWith("› ■ train"));
    }

    @Test
    void shouldShowWhatIsUsedBesidesTenants() {
        TopGpu gpu = TopMachine.several(1).gpus().getFirst();

        assertThat(gpu.tenantBytes()).isEqualTo(55 * TopMachine.GIB);
        assertThat(gpu.otherBytes()).isZero();
        assertThat(TopMachine.several(2).gpus().getLast().otherBytes()).isEqualTo(30 * TopMachine.GIB);
    }

    @Test
    void shouldNotShowWhatWasNotMeasured() {
        TopLook look = TopMachine.one();
        assertThat(look.gpus().getFirst().otherBytes()).isEqualTo(TopGpu.UNKNOWN);
        StringWriter json = new StringWriter();
        TopJson.write(new PrintWriter(json, true), look, TopLook.NONE);
        assertThat(json.toString()).contains("\"tenantBytes\":").doesNotContain("otherBytes");
        TopRow idle = TopRow.of(look.tenants().getFirst(), Optional.empty(), 0, Optional.empty());
        assertThat(TopColumn.USED.cell(idle, ASCII, look.at()).toString()).isEqualTo("-");
    }

    @Test
    void shouldKeepTheSelectedTenantInSight() {
        TopLook crowd = TopMachine.crowded(64);
        TopState last = TopStep.press(TopKey.of(TopKey.Kind.END), TopState.FIRST, crowd).state();

        assertThat(screen(crowd, TopState.FIRST, 80, 24)).contains("› ■ job-0 ").doesNotContain("job-63");
        assertThat(screen(crowd, last, 80, 24)).contains("› ■ job-63").doesNotContain("job-0 ");
        assertThat(screen(crowd, last.detailed(TopState.Details.ALWAYS), 80, 24)).contains("› ■ job-63").contains("╌ ■ job-63 on GPU 0");
    }

    @Test
    void shouldTellTenantsByLettersWithoutColours() {
        String lines = TopMachine.text(TopView.screen(TopMachine.one(), TopState.FIRST, ASCII, 80, 24));

        assertThat(lines).contains("> a train").contains("  b infer").contains("a train 40.0 GiB ").contains("bbb").contains("....");
        assertThat(lines).matches("[\\x20-\\x7e\\n]*");
    }

    @Test
    void shouldLetNoTenantTakeTheTerminalOver() {
        Tenant rude = TopMachine.tenant("a\033[2Jb", 1, 1, 0, ComputeLimits.NONE, TopMachine.one().rows().getFirst().gpu().orElseThrow().time(), List.of());
        TopLook look = TopLook.of(List.of(rude), List.of(), List.of(), MadeUp.NOW, 1, TopLook.NONE);

        assertThat(screen(look, TopState.FIRST, 200, 60)).doesNotContain("\033").contains("a?[2Jb");
    }

    @Test
    void shouldSayWhenThereIsNothingToShow() {
        assertThat(screen(TopLook.NONE, TopState.FIRST, 80, 24)).contains("No tenants are running");
        assertThat(screen(TopMachine.one(), TopState.FIRST.filtered("xyz"), 80, 24)).contains("No tenant matches").contains("filter 'xyz' (0 of 3)");
    }

    @Test
    void shouldWriteAPageOfEverything() {
        List<String> lines = TopView.page(TopMachine.crowded(64), LETTERS, 120).stream().map(AttributedString::toString).toList();

        assertThat(lines).anyMatch(line -> line.contains("job-63")).noneMatch(line -> line.contains("quit"));
    }

    @Test
    void shouldFitItsHelpInto80By24() {
        String help = screen(TopMachine.one(), TopState.FIRST.in(new TopMode.Helping()), 80, 24);

        assertThat(help).contains("draw anew").contains("any key back").doesNotContain("…");
    }
}
