package sluice.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ScreenTest {
    @Test
    void shouldColourOnlyOnATerminalThatWantsIt() {
        assertThat(Screen.of(true, Map.of("TERM", "xterm")).coloured()).isTrue();
        assertThat(Screen.of(false, Map.of("TERM", "xterm")).coloured()).isFalse();
        assertThat(Screen.of(true, Map.of("NO_COLOR", "1")).coloured()).isFalse();
        assertThat(Screen.of(true, Map.of("TERM", "dumb")).coloured()).isFalse();
    }

    @Test
    void shouldKeepProgressOutOfFiles() {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (Progress progress = new Progress(new PrintStream(file), false)) {
            progress.step("working");
        }
        assertThat(file.size()).isZero();
    }

    @Test
    void shouldRemoveProgressAtTheEnd() {
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        try (Progress progress = new Progress(new PrintStream(terminal), true)) {
            progress.step("working");
        }
        assertThat(terminal.toString()).startsWith("\r\033[Kworking").endsWith("\r\033[K");
    }
}
