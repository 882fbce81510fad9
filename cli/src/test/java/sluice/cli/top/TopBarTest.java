package sluice.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import sluice.cli.top.terminal.TopStyle;

class TopBarTest {
    private static final TopStyle COLOURS = new TopStyle(true, true);
    private static final TopStyle ASCII = new TopStyle(false, false);

    private static List<TopBar.Part> parts(long... amounts) {
        return IntStream.range(0, amounts.length).mapToObj(at -> new TopBar.Part("", amounts[at], at)).toList();
    }

    @Test
    void shouldDivideItsWidth() {
        assertThat(TopBar.of(parts(50, 25), 100, 8, ASCII)).hasToString("aaaabb..");
    }

    @Test
    void shouldBeExactToAnEighth() {
        AttributedString bar = TopBar.of(parts(1, 7), 16, 2, COLOURS);

        assertThat(bar.toString()).isEqualTo("▏░");
        assertThat(bar.styleAt(0)).isEqualTo(COLOURS.between(0, 1));
        assertThat(TopBar.of(parts(4), 8, 1, COLOURS)).hasToString("▌");
    }

    @Test
    void shouldNameTenantsWhereTheNameFits() {
        List<TopBar.Part> parts = List.of(new TopBar.Part("train 4.0 GiB", 60, 0), new TopBar.Part("infer 2.0 GiB", 30, 1), new TopBar.Part("x", 4, 2));

        assertThat(TopBar.of(parts, 100, 30, COLOURS)).hasToString(" train 4.0 GiB     infer    ▎░");
    }

    @Test
    void shouldStayInItsWidthWhateverItIsGiven() {
        assertThat(TopBar.of(parts(500, 900), 100, 10, ASCII)).hasToString("a".repeat(10));
        assertThat(TopBar.of(parts(-5, 5), 0, 4, ASCII)).hasToString("....");
        assertThat(TopBar.of(parts(1), 1, -3, ASCII).length()).isZero();
    }
}
