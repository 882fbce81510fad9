package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.place.SluiceException;

class MemoryLimitsTest {
    private static final long GIB = 1L << 30;

    @Test
    void shouldLimitEveryGpuAlike() {
        MemoryLimits limits = MemoryLimits.parse("4g");

        assertThat(limits.bytes(0)).isEqualTo(4 * GIB);
        assertThat(limits.bytes(15)).isEqualTo(4 * GIB);
        assertThat(limits).hasToString("4.0 GiB");
    }

    @Test
    void shouldLimitOnlyTheGpusNamed() {
        MemoryLimits limits = MemoryLimits.parse("0=4g, 12=8g");

        assertThat(limits.bytes(0)).isEqualTo(4 * GIB);
        assertThat(limits.bytes(1)).isZero();
        assertThat(limits.bytes(12)).isEqualTo(8 * GIB);
        assertThat(limits).hasToString("0=4.0 GiB, 12=8.0 GiB");
    }

    @Test
    void shouldNameTheExceptionsWhereMostAreLimited() {
        long[] bytes = new long[MemoryLimits.GPUS];
        Arrays.fill(bytes, 6 * GIB);
        bytes[0] = 0;
        bytes[1] = 3 * GIB;

        assertThat(MemoryLimits.of(bytes)).hasToString("0=none, 1=3.0 GiB, others 6.0 GiB");
        assertThat(MemoryLimits.parse("15=4g")).hasToString("15=4.0 GiB");
    }

    @Test
    void shouldKnowNoLimitOfUnknownGpus() {
        assertThat(MemoryLimits.parse("4g").bytes(-1)).isZero();
        assertThat(MemoryLimits.none()).hasToString("none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "0=", "=4g", "16=4g", "-1=4g", "0x0=4g", "0=4g,", "0=4g,4g", "0=4g,0=5g", "a=4g", "0=4g;1=5g"})
    void shouldRefuseNonsense(String text) {
        assertThatThrownBy(() -> MemoryLimits.parse(text)).isInstanceOf(SluiceException.class);
    }
}
