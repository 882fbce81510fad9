package sluice.proof.facts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ExpectTest {
    private static final long MIB = 1L << 20;

    @Test
    void shouldAllowFourMebibytesWhereThatIsMore() {
        assertThat(Expect.isNear(10 * MIB, 14 * MIB)).isTrue();
        assertThat(Expect.isNear(10 * MIB, 14 * MIB + 1)).isFalse();
    }

    @Test
    void shouldAllowOnePercentWhereThatIsMore() {
        assertThat(Expect.isNear(1000 * MIB, 1010 * MIB)).isTrue();
        assertThat(Expect.isNear(1000 * MIB, 989 * MIB)).isFalse();
    }

    @Test
    void shouldSayBothSizesExactly() {
        assertThatThrownBy(() -> Expect.bytes("the charge", 2 * MIB, 0))
                .isInstanceOf(CheckFailed.class)
                .hasMessage("the charge is 0 B, expected 2.0 MiB (2097152)");
    }
}
