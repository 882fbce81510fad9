package sluice.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.model.Operation;
import sluice.cli.top.terminal.TopInput;
import sluice.cli.top.terminal.TopKey;
import sluice.cli.top.terminal.TopStyle;
import sluice.region.LimitsChange;
import sluice.region.limits.Limit;

class TopStepTest {
    private static final TopLook LOOK = TopMachine.one();

    /// Types letters; `\n` is Enter, `\033` alone Esc.
    private static TopStep type(String letters, TopState from) {
        TopStep step = new TopStep(from, TopStep.Simple.NOTHING);
        for (int letter : letters.codePoints().toArray()) {
            step = TopStep.press(letter == '\n' ? TopKey.of(TopKey.Kind.ENTER) : letter == '\033' ? TopKey.of(TopKey.Kind.ESCAPE) : TopKey.letter(letter),
                    step.state(), LOOK);
        }
        return step;
    }

    private static List<String> names(TopState state) {
        return state.rows(LOOK).stream().map(TopRow::name).toList();
    }

    @Test
    void shouldSort() {
        assertThat(names(TopState.FIRST)).containsExactly("train", "infer", "notes");
        assertThat(names(type("s", TopState.FIRST).state())).containsExactly("infer", "notes", "train");
        assertThat(names(type("ss", TopState.FIRST).state())).containsExactly("train", "infer", "notes");
        assertThat(names(type("ssr", TopState.FIRST).state())).containsExactly("notes", "infer", "train");
    }

    @Test
    void shouldFilterByNameCommandAndPid() {
        assertThat(names(type("/INF", TopState.FIRST).state())).containsExactly("infer");
        assertThat(names(type("/notes.py\n", TopState.FIRST).state())).containsExactly("notes");
        assertThat(names(type("/1001\n", TopState.FIRST).state())).containsExactly("train");
        assertThat(names(type("/inf\033", TopState.FIRST).state())).hasSize(3);
        assertThat(names(type("/inf\n\033", TopState.FIRST).state())).hasSize(3);
    }

    @Test
    void shouldFollowTheSelectedTenantWhenTheOrderChanges() {
        TopState state = type("jss", TopState.FIRST).state();

        assertThat(names(state).get(state.position(state.rows(LOOK)))).isEqualTo("infer");
    }

    @Test
    void shouldSetALimitOnlyAfterAsking() {
        TopStep asked = type("jlm8g\n", TopState.FIRST);
        assertThat(asked.action()).isEqualTo(TopStep.Simple.NOTHING);
        assertThat(TopMachine.text(TopFoot.lines(LOOK, asked.state(), new TopStyle(true, true), 80)))
                .contains("Set memory of infer from 0=20.0 GiB to 8g?").contains("y yes  any other key no");

        TopStep yes = type("y", asked.state());
        assertThat(yes.action()).isInstanceOfSatisfying(TopStep.SetTo.class, set -> {
            assertThat(set.tenant().name()).isEqualTo("infer");
            assertThat(set.change()).isEqualTo(LimitsChange.of(Limit.MEMORY, "8g"));
        });
        TopStep no = type("n", asked.state());
        assertThat(no.action()).isEqualTo(TopStep.Simple.NOTHING);
        assertThat(no.state().message()).isEqualTo("nothing was changed");
    }

    @Test
    void shouldSayWhatIsWrongWithAValue() {
        TopState state = type("lm8x\n", TopState.FIRST).state();

        assertThat(state.mode()).isInstanceOfSatisfying(TopMode.Editing.class, mode -> assertThat(mode.mistake()).contains("8x"));
        assertThat(type("\033", state).state().mode()).isEqualTo(new TopMode.Watching());
    }

    @Test
    void shouldKnowEveryLimit() {
        for (String typed : List.of("mnone", "c25%", "w3", "phigh", "etrue", "t5ms", "owait:30s", "wnone")) {
            assertThat(type("l" + typed + "\ny", TopState.FIRST).action()).as(typed).isInstanceOf(TopStep.SetTo.class);
        }
        assertThat(Limit.MEMORY.format(LOOK.rows().getLast().tenant().limits())).isEqualTo(Limit.NONE);
    }

    @Test
    void shouldQuitAndSuspendFromAnywhere() {
        for (String before : List.of("", "h", "/", "l", "lm")) {
            TopState state = type(before, TopState.FIRST).state();
            assertThat(TopStep.press(TopKey.of(TopKey.Kind.INTERRUPT), state, LOOK).action()).isEqualTo(TopStep.Simple.QUIT);
            assertThat(TopStep.press(TopKey.of(TopKey.Kind.SUSPEND), state, LOOK).action()).isEqualTo(TopStep.Simple.SUSPEND);
        }
        assertThat(type("q", TopState.FIRST).action()).isEqualTo(TopStep.Simple.QUIT);
    }

    @Test
    void shouldReadKeysOfTerminals() throws Exception {
        assertThat(key("\033[A").kind()).isEqualTo(TopKey.Kind.UP);
        assertThat(key("\033OB").kind()).isEqualTo(TopKey.Kind.DOWN);
        assertThat(key("\033[5~").kind()).isEqualTo(TopKey.Kind.PAGE_UP);
        assertThat(key("\033[1;5A").kind()).isEqualTo(TopKey.Kind.UP);
        assertThat(key("\033").kind()).isEqualTo(TopKey.Kind.ESCAPE);
        assertThat(key("\033[").kind()).isEqualTo(TopKey.Kind.UNKNOWN);
        assertThat(key("\032").kind()).isEqualTo(TopKey.Kind.SUSPEND);
        assertThat(key("ä")).isEqualTo(TopKey.letter('ä'));
        assertThat(key("😀")).isEqualTo(TopKey.letter(0x1f600));
    }

    private static TopKey key(String letters) throws Exception {
        return TopKey.read(new TopInput(new ByteArrayInputStream(letters.getBytes(StandardCharsets.UTF_8)))).orElseThrow();
    }

    @Test
    void shouldGiveEachTenantAColourForLife() {
        TopLook fewer = TopLook.of(LOOK.tenants().subList(1, 3), List.of(), List.of(), LOOK.at(), 20, LOOK);

        assertThat(fewer.rows().getFirst().colour()).isEqualTo(1);
        TopLook again = TopLook.of(LOOK.tenants(), List.of(), List.of(), LOOK.at(), 30, fewer);
        assertThat(again.rows().stream().map(TopRow::colour)).containsExactly(0, 1, 2);
    }

    @Test
    void shouldShowOneGpuAfterTheOther() {
        TopLook two = TopMachine.several(2);
        TopState first = TopStep.press(TopKey.letter('g'), TopState.FIRST, two).state();
        TopState second = TopStep.press(TopKey.letter('g'), first, two).state();

        assertThat(first.gpus(two)).containsExactly(two.gpus().getFirst());
        assertThat(second.gpus(two)).containsExactly(two.gpus().getLast());
        assertThat(TopStep.press(TopKey.letter('g'), second, two).state().gpus(two)).hasSize(2);
    }

    @Test
    void shouldPauseTheSelectedTenantAfterAsking() {
        TopStep asked = type("p", TopState.FIRST);
        assertThat(asked.state().mode()).isInstanceOf(TopMode.Pausing.class);
        assertThat(TopFoot.lines(LOOK, asked.state(), new TopStyle(false, false), 80).toString()).contains("Pause train", "vacate");

        assertThat(type("r", asked.state()).action()).isInstanceOfSatisfying(TopStep.OperateTo.class, wanted -> {
            assertThat(wanted.tenant().name()).isEqualTo("train");
            assertThat(wanted.kind()).isEqualTo(Operation.Kind.RELEASE);
        });
        assertThat(type("g", asked.state()).action()).isEqualTo(new TopStep.OperateTo(LOOK.rows().getFirst().tenant(), Operation.Kind.RESUME));
        assertThat(type("x", asked.state()).action()).isEqualTo(TopStep.Simple.NOTHING);
    }
}
