package sluice.region.pause;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.layout.RegionLayout;

class TimeSlicesTest {
    @ParameterizedTest
    @ValueSource(strings = {"1", "true", "Yes", "ON", "auto"})
    void shouldBeTriedWhereTheVariableSaysSo(String value) {
        assertThat(TimeSlices.isOff(value)).isFalse();
    }

    /// The library takes what it does not know for the default, which is off.
    @ParameterizedTest
    @ValueSource(strings = {"0", "false", "", "perhaps", "Auto"})
    void shouldBeOffElsewhere(String value) {
        assertThat(TimeSlices.isOff(value)).isTrue();
        assertThat(TimeSlices.isOff(null)).isTrue();
    }

    @Test
    void shouldHaveFailedOnceAReasonIsKnown() {
        assertThat(TimeSlices.UNTRIED.failed()).isFalse();
        assertThat(new TimeSlices(RegionLayout.SLICES_ON, 1).failed()).isFalse();
        assertThat(new TimeSlices(RegionLayout.SLICES_OFF, 0).failed()).isTrue();
        assertThat(new TimeSlices(RegionLayout.SLICES_ABSENT, 0).failed()).isTrue();
    }
}
