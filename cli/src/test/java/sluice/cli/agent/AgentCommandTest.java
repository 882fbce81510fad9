package sluice.cli.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.model.PlannedBoard;

class AgentCommandTest {
    @Test
    void shouldSayHowLongTurnsAre() {
        PlannedBoard board = new PlannedBoard("GPU-1", List.of(new PlannedBoard.Turn(1, "train", 15_000_000), new PlannedBoard.Turn(2, "in\033fer", 5_000_000)));

        assertThat(AgentCommand.line(board)).isEqualTo("GPU-1: train 15 ms, in?fer 5.0 ms");
        assertThat(AgentCommand.line(new PlannedBoard("GPU-1", List.of()))).isEqualTo("GPU-1: nobody takes turns");
    }
}
