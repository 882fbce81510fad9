package sluice.agent.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.AgentService;
import sluice.region.place.SluiceException;

class SettingsTest {
    @TempDir
    private Path folder;

    private Settings read(String... lines) throws Exception {
        Path file = folder.resolve("agent.conf");
        Files.write(file, List.of(lines));
        return Settings.read(file, AgentService.settings(AgentService.parts()));
    }

    @Test
    void shouldReadTheFormsThatPeopleWrite() throws Exception {
        Settings settings = read("# the office machine", "", "look-every=2s", " history-size = 64m ", "port = 7001", "administrators = root, 1000");

        assertThat(settings.get(CoreSettings.LOOK_EVERY)).isEqualTo(Duration.ofSeconds(2));
        assertThat(settings.get(CoreSettings.PORT)).isEqualTo(7001);
        assertThat(settings.get(CoreSettings.ADMINISTRATORS)).containsExactly(0L, 1000L);
        assertThat(settings.describe()).anyMatch(line -> line.startsWith("port = 7001 ") && line.contains("agent.conf:5"))
                .anyMatch(line -> line.startsWith("history-size = 64m ") && line.contains("agent.conf:4"))
                .anyMatch(line -> line.startsWith("plan-every = 100ms ") && line.contains("# default; "));
    }

    @Test
    void shouldSayAllThatIsWrongWithFileAndLine() {
        assertThatThrownBy(() -> read("port = 70000", "prot = 1", "look-every = fast", "nonsense", "plan-every = 1s", "plan-every = 1s"))
                .isInstanceOf(SluiceException.class).message().satisfies(message -> assertThat(message.lines()).satisfiesExactly(
                        line -> assertThat(line).endsWith("agent.conf:1: port: '70000' is not from 1 to 65535; write a whole number"),
                        line -> assertThat(line).endsWith("agent.conf:2: there is no setting 'prot'; 'sluice agent --check' lists them"),
                        line -> assertThat(line).endsWith("agent.conf:3: look-every: 'fast' is no time; write a number and a unit, as in 100ms, 1s, 2m or 6h"),
                        line -> assertThat(line).endsWith("agent.conf:4: 'nonsense' is no setting; write name = value"),
                        line -> assertThat(line).contains("agent.conf:6: plan-every is set twice, first in ").endsWith("agent.conf:5; keep one line")));
    }

    @Test
    void shouldSayWhatAHistoryMayTake() {
        assertThatThrownBy(() -> read("history-size = 99999999g")).hasMessageContaining("history-size: '99999999g' is too much; write at most 1024m");
    }

    @Test
    void shouldSayThatAFileIsNotThere() {
        assertThatThrownBy(() -> Settings.read(folder.resolve("none"), CoreSettings.ALL)).hasMessageContaining("cannot read the config file");
    }
}
