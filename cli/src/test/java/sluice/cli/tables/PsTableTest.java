package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.api.model.ClaimPlace;
import sluice.api.model.EarlierLook;
import sluice.cli.output.Screen;
import sluice.region.layout.RegionLayout;

class PsTableTest {
    @Test
    void shouldShowEveryGpuOfEveryTenant() {
        List<String> lines = PsTable.lines(List.of(MadeUp.training(), MadeUp.idle(), MadeUp.sharing(), MadeUp.ended()), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(String.join("\n", lines)).isEqualTo("""
                TENANT  GPU  PID(S)       USED    LIMIT       PEAK  REFUSED  GPU TIME    GOT  ASKED    WAITED   DEBT  AGE  COMMAND
                train     0  4711      3.8 GiB  4.0 GiB    3.9 GiB       12    17.0 s  28.3%%  25%%      40.0 s  2.0 s   2h  python train…
                train     1  4711    512.0 MiB  8.0 GiB  612.0 MiB        0         -      -  -             -      -   2h  python train…
                shell     -  99              -     none          -        -         -      -  -             -      -  30s  bash?[31m -c…
                infer     0  4800    512.0 MiB     none  612.0 MiB        0    36.0 s  45.0%%  w3 high   4.0 s      -   1m  ./serve --mo…
                old       0  ended         0 B  1.0 GiB  100.0 MiB        0         -      -  -             -      -   2d  ./a.out
                train on GPU 0: 2.0 s of GPU time ahead of its cap, repaid by %s
                train on GPU 0: the GPU time of 3 calls could not be measured; it is in no figure and under no cap"""
                .formatted(MadeUp.clock(8)));
        assertThat(lines.subList(0, 6)).allMatch(line -> line.length() <= 120);
    }

    @Test
    void shouldNameThePodOfAClaimAndCutNothingWhenWide() {
        ClaimPlace place = new ClaimPlace("team", "train-0", "main", "train-gpu");
        List<String> lines = PsTable.wide(List.of(MadeUp.training(), MadeUp.idle()), EarlierLook.NONE, MadeUp.NOW, MadeUp.PLAIN, Map.of("train", place));

        assertThat(lines.getFirst()).endsWith("AGE  POD                CLAIM      COMMAND");
        assertThat(lines.get(1)).contains("2h  team/train-0/main  train-gpu  " + MadeUp.training().command());
        assertThat(lines.get(3)).contains("30s  -                  -          ").doesNotContain("…");
        assertThat(PsTable.wide(List.of(MadeUp.idle()), EarlierLook.NONE, MadeUp.NOW, MadeUp.PLAIN, Map.of()).getFirst()).doesNotContain("CLAIM");
    }

    @Test
    void shouldShowNoGpuTimeWithoutLimitsOnIt() {
        List<String> lines = PsTable.lines(List.of(MadeUp.above(), MadeUp.idle(), MadeUp.ended()), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(String.join("\n", lines)).isEqualTo("""
                TENANT  GPU  PID(S)     USED    LIMIT       PEAK  REFUSED  AGE  COMMAND
                train     0  4711    3.8 GiB  3.0 GiB    3.9 GiB       12   2h  python train.py --epochs 3
                shell     -  99            -     none          -        -  30s  bash?[31m -c xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
                old       0  ended       0 B  1.0 GiB  100.0 MiB        0   2d  ./a.out""");
    }

    @Test
    void shouldShowTheStateOfATenantThatDoesNotRun() {
        assertThat(PsTable.lines(List.of(MadeUp.starting()), MadeUp.NOW, MadeUp.PLAIN).get(1)).contains("  99 starting  ");
        assertThat(PsTable.lines(List.of(MadeUp.training()), MadeUp.NOW, MadeUp.PLAIN).get(1)).doesNotContain("running");
    }

    @Test
    void shouldShowWhatWasGotSinceAnEarlierLook() {
        List<String> lines = PsTable.lines(List.of(MadeUp.sharing()), EarlierLook.at(List.of(MadeUp.sharingEarlier())), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(lines.getLast()).contains("36.0 s  60.0%  w3 high");
    }

    @Test
    void shouldSayThatHigherPrioritiesLeaveNothing() {
        List<String> lines = PsTable.lines(List.of(MadeUp.starved()), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(lines.getLast()).isEqualTo("batch on GPU 0: waited 79.0 s for turns: low gets only what higher priorities leave, "
                + "here less than 5%; a weight gives it a part");
    }

    @Test
    void shouldSayThatAStrictCapIsNone() {
        List<String> lines = PsTable.lines(List.of(MadeUp.strict(RegionLayout.SLICES_ABSENT)), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(lines.get(1)).contains("25% strict w3");
        assertThat(lines.getLast()).isEqualTo("train: its cap is not strict, a kernel that takes longer is repaid: time slices are off: libcuda set no time slice, "
                + "as for a client of MPS");
        assertThat(PsTable.lines(List.of(MadeUp.strict(RegionLayout.SLICES_ON), MadeUp.strict(RegionLayout.SLICES_UNTRIED)), MadeUp.NOW, MadeUp.PLAIN))
                .noneMatch(line -> line.contains("is not strict"));
        assertThat(lines.get(2)).as("a GPU without a cap").doesNotContain("strict");
    }

    @Test
    void shouldColourOnlyOutputForATerminal() {
        Screen screen = new Screen(true, true);
        List<String> lines = PsTable.lines(List.of(MadeUp.training()), MadeUp.NOW, screen);

        assertThat(lines.get(1)).contains(screen.yellow("3.8 GiB")).contains(screen.red("12")).contains(screen.yellow("2.0 s"));
        assertThat(lines.get(2)).doesNotContain("\033");
    }
}
