package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.place.Identity;

@Timeout(60)
class CommandChangeTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void create() throws Exception {
        file = TestRegion.create(folder, "job", Identity.self());
    }

    private Tenant now() {
        return Tenant.read(file);
    }

    @Test
    void shouldNumberCommandsAndSayWhen() {
        CommandChange pause = CommandChange.to(Depth.HOLD, now());

        assertThat(pause.before()).isEqualTo(Command.NONE);
        assertThat(now().asked().word()).isEqualTo(1 << 8 | 1);
        assertThat(now().asked().atNanos()).isGreaterThan(0);
        assertThat(CommandChange.to(Depth.VACATE, now()).asked().word()).isEqualTo(2 << 8 | 3);
        assertThat(CommandChange.to(Depth.RUN, now()).asked().word()).isEqualTo(3 << 8);
    }

    @Test
    void shouldAskForTheSameOnlyOnce() {
        CommandChange first = CommandChange.to(Depth.HOLD, now());
        CommandChange second = CommandChange.to(Depth.HOLD, now());

        assertThat(first.fresh()).isTrue();
        assertThat(second.fresh()).isFalse();
        assertThat(second.asked()).isEqualTo(first.asked());
        assertThat(second.withdraw()).as("it is the first one's").isFalse();
    }

    @Test
    void shouldTakeBackWithAResumeWhatProcessesAskedOfThemselvesAndWithNothingElse() {
        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            FakeAttendant.attend(region, ledger.slot());
            assertThat(CommandChange.to(Depth.RUN, now()).fresh()).as("it runs").isFalse();
            region.pause(ledger.slot()).own(0x102);
            CommandChange pause = CommandChange.to(Depth.HOLD, now());
            assertThat(pause.withdraw()).isTrue();
            assertThat(region.limits().resumed()).as("a withdrawn pause").isZero();
            CommandChange resume = CommandChange.to(Depth.RUN, now());
            assertThat(resume.fresh()).isTrue();
            assertThat(region.limits().resumed()).isEqualTo(resume.asked().word());
        }
    }

    @Test
    void shouldTakeACommandBack() {
        CommandChange.to(Depth.HOLD, now());
        CommandChange release = CommandChange.to(Depth.RELEASE, now());

        assertThat(release.withdraw()).isTrue();
        assertThat(now().asked().depth()).isEqualTo(Depth.HOLD);
        assertThat(now().asked().number()).isEqualTo(3);
    }

    @Test
    void shouldLeaveALaterCommandAlone() {
        CommandChange pause = CommandChange.to(Depth.HOLD, now());
        CommandChange.to(Depth.RELEASE, now());

        assertThat(pause.withdraw()).isFalse();
        assertThat(now().asked().depth()).isEqualTo(Depth.RELEASE);
    }

    @Test
    void shouldAskAgainAfterARefusal() throws Exception {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> FakeAttendant.Doing.REFUSE)) {
            CommandChange.to(Depth.RELEASE, now());
            while (!now().pause().refused()) {
                Thread.onSpinWait();
            }
            assertThat(CommandChange.to(Depth.RELEASE, now()).fresh()).isTrue();
        }
    }

    @Test
    void shouldRefuseALibraryThatCannotPause() {
        try (Region region = Region.openReadWrite(file); Ledger _ = Ledger.claim(region, Identity.self())) {
            assertThatThrownBy(() -> CommandChange.to(Depth.HOLD, now())).hasMessageContaining("process " + Identity.self().pid())
                    .hasMessageContaining("cannot pause").hasMessageContaining(region.version());
            assertThat(now().asked()).isEqualTo(Command.NONE);
        }
    }

    @Test
    void shouldRefuseAnEndedTenantAndItsSuccessor() throws Exception {
        Tenant ended = Tenant.read(TestRegion.create(folder, "gone", TestRegion.DEAD));
        assertThatThrownBy(() -> CommandChange.to(Depth.HOLD, ended)).hasMessageContaining("has ended");

        Tenant seen = now();
        Files.delete(file);
        TestRegion.create(folder, "job", Identity.self());
        assertThatThrownBy(() -> CommandChange.to(Depth.HOLD, seen)).hasMessageContaining("another tenant's");
    }
}
