package sluice.region.place;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProcessStatTest {
    private static final String REST = " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 4711 0 0 0 0 0 0815 0\n";

    private static ProcessStat parse(String text) {
        return ProcessStat.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String rest(int threads) {
        return REST.formatted(threads);
    }

    @Test
    void shouldReadPidStartTimeAndImage() {
        assertThat(parse("42 (bash) S" + rest(1))).isEqualTo(new ProcessStat(42, 4711, 815 >>> 4));
    }

    @Test
    void shouldNotBeFooledByTheNameOfTheProgram() {
        assertThat(parse("42 (evil) Z 1 (x)) S" + rest(1))).isEqualTo(new ProcessStat(42, 4711, 815 >>> 4));
    }

    @Test
    void shouldTakeAZombieForEnded() {
        assertThat(parse("42 (bash) Z" + rest(1))).isNull();
    }

    @Test
    void shouldTakeAProcessForAliveWhoseFirstThreadEnded() {
        assertThat(parse("42 (java) Z" + rest(7))).isNotNull();
    }

    @Test
    void shouldRefuseNonsense() {
        assertThat(parse("")).isNull();
        assertThat(parse("42 bash S 1")).isNull();
        assertThat(parse("42 (bash) S 1 2 3")).isNull();
        assertThat(parse(")")).isNull();
    }
}
