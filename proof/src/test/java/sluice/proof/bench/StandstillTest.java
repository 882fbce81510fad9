package sluice.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StandstillTest {
    @Test
    void shouldSayHowOftenAndHowLong() {
        assertThat(new Standstill(0.34, 1_020_000).text()).isEqualTo("stands still 0.3 times a second for 0.3 ms or more, the longest 1.0 ms");
        assertThat(new Standstill(0, 0).text()).isEqualTo("stands still 0.0 times a second for 0.3 ms or more");
    }

    @Test
    void shouldTellARestlessMachine() {
        assertThat(new Standstill(1.5, 1_200_000).isRestless()).isFalse();
        assertThat(new Standstill(5, 1_200_000).isRestless()).isTrue();
        assertThat(new Standstill(0.2, 9_000_000).isRestless()).isTrue();
    }

    @Test
    void shouldSeeWhatThisMachineDoes() {
        Standstill seen = Standstill.measure();
        assertThat(seen.perSecond()).isBetween(0.0, 3_333.0);
        assertThat(seen.longestNanos() > 0).isEqualTo(seen.perSecond() > 0);
    }
}
