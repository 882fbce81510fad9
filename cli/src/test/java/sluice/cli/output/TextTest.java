package sluice.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0 s",
        "40000, 40 us",
        "1400000, 1.4 ms",
        "25000000, 25 ms",
        "1800000000, 1.8 s",
        "99900000000, 99.9 s",
        "303000000000, 5m03s",
        "7500000000000, 2h05m",
        "273600000000000, 3d04h"
    })
    void shouldWriteSpansOfTime(long nanos, String text) {
        assertThat(Text.duration(nanos)).isEqualTo(text);
    }
}
