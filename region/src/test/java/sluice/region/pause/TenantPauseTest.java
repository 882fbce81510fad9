package sluice.region.pause;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.ProcessPause.Moving;
import sluice.region.pause.ProcessPause.Own;

class TenantPauseTest {
    private static final Command RELEASE = Command.of(7, Depth.RELEASE, 1000);

    private static ProcessPause process(Moving moving, Host host, Moved moved, long sinceNanos, String reason) {
        return new ProcessPause(true, true, 0, 0, moving, host, moved, sinceNanos, reason, Own.NONE);
    }

    private static ProcessPause at(PauseStep step, long since, long total, long moved, String reason) {
        return process(new Moving(step, since, total, moved), Host.NONE, Moved.NONE, 0, reason);
    }

    @Test
    void shouldShowTheStepThatIsFurthestBehindWithTheBytesOfAllThatAreThere() {
        TenantPause pause = TenantPause.of(RELEASE, List.of(at(PauseStep.COPY_OUT, 30, 100, 10, ""), at(PauseStep.COPY_OUT, 20, 200, 50, ""),
                at(PauseStep.FREE, 10, 400, 400, ""), at(PauseStep.NONE, 0, 0, 0, "")));

        assertThat(pause.moving()).isEqualTo(new Moving(PauseStep.COPY_OUT, 20, 300, 60));
    }

    @Test
    void shouldShowFirstThatAProcessWaitsForRoom() {
        TenantPause pause = TenantPause.of(RELEASE, List.of(at(PauseStep.HOLD, 1, 0, 0, ""), at(PauseStep.ROOM, 2, 0, 0, "GPU 0 has 1 GiB free, 2 GiB are needed")));

        assertThat(pause.moving().step()).isEqualTo(PauseStep.ROOM);
        assertThat(pause.reason()).startsWith("GPU 0 has");
    }

    @Test
    void shouldSumWhatIsAwayAndWhatWasMoved() {
        TenantPause pause = TenantPause.of(RELEASE, List.of(process(Moving.NONE, new Host(1, 2, 3), new Moved(1, 2, 3, 4, 5, 6), 500, "stale"),
                process(Moving.NONE, new Host(10, 20, 30), new Moved(10, 20, 30, 40, 50, 60), 400, "")));

        assertThat(pause.host()).isEqualTo(new Host(11, 22, 33));
        assertThat(pause.moved()).isEqualTo(new Moved(11, 22, 33, 44, 55, 66));
        assertThat(pause.sinceNanos()).isEqualTo(400);
        assertThat(pause.reason()).as("nobody waits").isEmpty();
    }

    @Test
    void shouldSayWhyAProcessRefused() {
        ProcessPause refusing = new ProcessPause(true, true, 0, RELEASE.word(), Moving.NONE, Host.NONE, Moved.NONE, 0, "managed memory stays", Own.NONE);
        TenantPause pause = TenantPause.of(RELEASE, List.of(at(PauseStep.DRAIN, 0, 0, 0, "x"), refusing));

        assertThat(pause.refused()).isTrue();
        assertThat(pause.reason()).isEqualTo("managed memory stays");
        assertThat(TenantPause.of(RELEASE.next(Depth.HOLD, 0), List.of(refusing)).refused()).as("that was an earlier command").isFalse();
    }

    @Test
    void shouldCountThoseThatPausedThemselvesAndSayWhyOneCouldNotRelease() {
        ProcessPause released = new ProcessPause(true, true, 0, 0, Moving.NONE, Host.NONE, Moved.NONE, 5, "", new Own(0x102, 0x102, 0));
        ProcessPause held = new ProcessPause(true, true, 0, 0, Moving.NONE, Host.NONE, Moved.NONE, 5, "no host memory", new Own(0x302, 0x200, 0x302));
        TenantPause pause = TenantPause.of(Command.NONE, List.of(released, held, at(PauseStep.NONE, 0, 0, 0, "stale")));

        assertThat(pause.own()).isEqualTo(new TenantPause.OwnPauses(2, "no host memory"));
        assertThat(pause.refused()).as("no tool asked").isFalse();
    }

    @Test
    void shouldBeSinceTheCommandWhereNoProcessIsHeld() {
        assertThat(TenantPause.of(RELEASE, List.of()).sinceNanos()).isEqualTo(1000);
        assertThat(TenantPause.of(RELEASE.next(Depth.RUN, 2000), List.of()).sinceNanos()).isZero();
    }

    @Test
    void shouldKnowDepthsAndStepsByTheirWords() {
        for (Depth depth : Depth.values()) {
            assertThat(Depth.find(depth.word())).contains(depth);
            assertThat(Command.of(5, depth, 0).depth()).isEqualTo(depth);
        }
        for (PauseStep step : PauseStep.values()) {
            assertThat(PauseStep.find(step.word())).contains(step);
            assertThat(PauseStep.of(step.number())).isEqualTo(step);
        }
        assertThat(Depth.ofPauses()).containsExactly("hold", "release", "vacate");
        assertThat(PauseStep.of(99)).as("of a later version").isEqualTo(PauseStep.NONE);
    }
}
