package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.agent.planning.PlannedBoard;

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

    @Test
    void shouldSayHowLongTurnsAre() {
        PlannedBoard board = new PlannedBoard("GPU-1", List.of(new PlannedBoard.Turn(1, "train", 15_000_000), new PlannedBoard.Turn(2, "in\033fer", 5_000_000)));

        assertThat(AgentCommand.line(board)).isEqualTo("GPU-1: train 15 ms, in?fer 5.0 ms");
        assertThat(AgentCommand.line(new PlannedBoard("GPU-1", List.of()))).isEqualTo("GPU-1: nobody takes turns");
    }
}
