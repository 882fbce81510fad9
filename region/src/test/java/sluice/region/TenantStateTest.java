package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.ProcessPause.Moving;
import sluice.region.pause.ProcessPause.Own;
import sluice.region.place.Identity;

class TenantStateTest {
    private static final Command PAUSE = Command.of(1, Depth.HOLD, 0);
    private static final Command EVICT = Command.of(2, Depth.RELEASE, 0);
    private static final Command VACATE = Command.of(3, Depth.VACATE, 0);
    private static final Command RUN = Command.of(4, Depth.RUN, 0);

    @TempDir
    private Path folder;

    private static ProcessPause answering(Command answer) {
        return process(true, true, answer, 0);
    }

    private static ProcessPause process(boolean able, boolean attended, Command answer, long sinceNanos) {
        return new ProcessPause(able, attended, answer.word(), 0, Moving.NONE, Host.NONE, Moved.NONE, sinceNanos, "", Own.NONE);
    }

    private static TenantState state(Command asked, ProcessPause... processes) {
        return TenantState.of(true, asked, List.of(processes));
    }

    @Test
    void shouldFollowFromTheCommandAndAllAnswers() {
        assertThat(TenantState.of(false, Command.NONE, List.of())).isEqualTo(TenantState.STARTING);
        assertThat(TenantState.of(false, Command.NONE, List.of(ProcessPause.NONE))).isEqualTo(TenantState.RUNNING);
        assertThat(state(Command.NONE)).as("between two processes").isEqualTo(TenantState.RUNNING);
        assertThat(state(PAUSE, answering(PAUSE), answering(Command.NONE))).isEqualTo(TenantState.PAUSING);
        assertThat(state(PAUSE, answering(PAUSE), answering(PAUSE))).isEqualTo(TenantState.PAUSED);
        assertThat(state(EVICT, answering(EVICT), answering(PAUSE))).isEqualTo(TenantState.PAUSING);
        assertThat(state(EVICT, answering(EVICT))).isEqualTo(TenantState.EVICTED);
        assertThat(state(VACATE, answering(VACATE))).isEqualTo(TenantState.EVICTED);
        assertThat(state(RUN, answering(RUN), answering(EVICT))).isEqualTo(TenantState.RESUMING);
        assertThat(state(RUN, answering(RUN), answering(Command.NONE))).as("a new process was never paused").isEqualTo(TenantState.RUNNING);
    }

    @Test
    void shouldTakeAProcessWithoutAContextForDone() {
        assertThat(state(EVICT, answering(EVICT), process(true, false, Command.NONE, 0))).isEqualTo(TenantState.EVICTED);
        assertThat(state(RUN, process(true, false, EVICT, 0))).isEqualTo(TenantState.RUNNING);
    }

    @Test
    void shouldNotTakeALibraryThatCannotPauseForPaused() {
        assertThat(state(PAUSE, ProcessPause.NONE)).isEqualTo(TenantState.PAUSING);
        assertThat(state(RUN, ProcessPause.NONE)).isEqualTo(TenantState.RUNNING);
    }

    @Test
    void shouldResumeUntilAProcessOfAWithdrawnPauseIsHeldNoMore() {
        assertThat(state(RUN, process(true, true, Command.NONE, 99))).isEqualTo(TenantState.RESUMING);
        assertThat(state(RUN, process(true, true, RUN, 0))).isEqualTo(TenantState.RUNNING);
    }

    private static ProcessPause itself(Depth depth, boolean answered, boolean refused) {
        long word = Command.of(7, depth, 0).word();
        return new ProcessPause(true, true, 0, 0, Moving.NONE, Host.NONE, Moved.NONE, 9, "", new Own(word, answered ? word : 0, refused ? word : 0));
    }

    @Test
    void shouldBePausedWhereAllProcessesPausedThemselves() {
        assertThat(state(Command.NONE, itself(Depth.RELEASE, false, false))).isEqualTo(TenantState.PAUSING);
        assertThat(state(Command.NONE, itself(Depth.RELEASE, true, false), process(true, false, Command.NONE, 0))).isEqualTo(TenantState.EVICTED);
        assertThat(state(Command.NONE, itself(Depth.RELEASE, true, false), itself(Depth.RELEASE, false, true))).isEqualTo(TenantState.PAUSED);
        assertThat(state(Command.NONE, itself(Depth.HOLD, true, false))).isEqualTo(TenantState.PAUSED);
        assertThat(state(Command.NONE, itself(Depth.HOLD, true, false), answering(Command.NONE))).as("some still run").isEqualTo(TenantState.RUNNING);
        assertThat(state(Command.NONE, itself(Depth.RUN, false, false))).isEqualTo(TenantState.RESUMING);
        assertThat(state(Command.NONE, itself(Depth.RUN, true, false))).isEqualTo(TenantState.RUNNING);
        assertThat(state(PAUSE, itself(Depth.RELEASE, true, false))).as("what the tools ask counts first").isEqualTo(TenantState.PAUSING);
    }

    @Test
    void shouldBeReadFromTheRegion() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        assertThat(Tenant.read(file).state()).isEqualTo(TenantState.STARTING);
        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            FakeAttendant.attend(region, ledger.slot());
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.RUNNING);
            region.limits().command(PAUSE.word());
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSING);
            region.slot(ledger.slot()).answer(PAUSE.word());
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSED);
        }
        assertThat(Tenant.read(TestRegion.create(folder, "gone", TestRegion.DEAD)).state()).isEqualTo(TenantState.ENDED);
    }

    @Test
    void shouldKnowItsWords() {
        for (TenantState state : TenantState.values()) {
            assertThat(TenantState.find(state.word())).contains(state);
        }
        assertThat(TenantState.find("drowned")).isEmpty();
    }
}
