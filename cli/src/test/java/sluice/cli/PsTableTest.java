package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PsTableTest {
    @Test
    void shouldShowEveryGpuOfEveryTenant() {
        List<String> lines = PsTable.lines(List.of(MadeUp.training(), MadeUp.idle(), MadeUp.ended()), MadeUp.NOW, MadeUp.PLAIN);

        assertThat(String.join("\n", lines)).isEqualTo("""
                TENANT  GPU  PID(S)       USED    LIMIT       PEAK  REFUSED  AGE  COMMAND
                train     0  4711      3.8 GiB  4.0 GiB    3.9 GiB       12   2h  python train.py --epochs 3
                train     1  4711    512.0 MiB  8.0 GiB  612.0 MiB        0   2h  python train.py --epochs 3
                shell     -  99              -     none          -        -  30s  bash?[31m -c xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
                old       0  ended         0 B  1.0 GiB  100.0 MiB        0   2d  ./a.out""");
    }

    @Test
    void shouldColourOnlyWhatAPersonShouldSee() {
        Screen screen = new Screen(true, true);
        List<String> lines = PsTable.lines(List.of(MadeUp.training()), MadeUp.NOW, screen);

        assertThat(lines.get(1)).contains(screen.yellow("3.8 GiB")).contains(screen.red("12"));
        assertThat(lines.get(2)).doesNotContain("\033");
    }
}
