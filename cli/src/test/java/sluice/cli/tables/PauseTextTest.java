package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.model.OnBoards;
import sluice.region.Tenant;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.ProcessPause.Moving;

class PauseTextTest {
    private static final long GIB = 1L << 30;
    private static final long NOW = MadeUp.NOW.getEpochSecond() * 1_000_000_000;

    private static Tenant tenant(TenantState state, Depth depth, Moving moving, Host host, boolean refused, String reason) {
        Tenant old = MadeUp.above();
        Command asked = Command.of(4, depth, NOW - 200_000_000_000L);
        ProcessPause pause = new ProcessPause(true, true, 0, refused ? asked.word() : 0, moving, host, Moved.NONE, NOW - 180_000_000_000L, reason, ProcessPause.Own.NONE);
        List<TenantProcess> processes = old.liveProcesses().stream().limit(1).map(process -> new TenantProcess(process.slot(), process.identity(), true,
                process.attachedNanos(), process.calls(), process.passedCalls(), process.charges(), pause, process.commandLine())).toList();
        return new Tenant(old.file(), old.name(), old.command(), state, asked, old.root(), old.createdNanos(), old.uid(), old.limitsEpoch(), old.limits(),
                old.gpus(), processes, List.of());
    }

    private static String row(Tenant tenant) {
        return PsTable.lines(List.of(tenant), MadeUp.NOW, MadeUp.PLAIN).get(1);
    }

    @Test
    void shouldSaySinceWhenATenantIsPausedAndWhatIsAway() {
        assertThat(row(tenant(TenantState.PAUSED, Depth.HOLD, Moving.NONE, Host.NONE, false, ""))).startsWith("train (paused 3m)  ");
        assertThat(row(tenant(TenantState.EVICTED, Depth.RELEASE, Moving.NONE, new Host(8 * GIB, GIB, 9 * GIB), false, "")))
                .startsWith("train (evicted 3m, 8.0 GiB away)  ");
    }

    @Test
    void shouldShowHowFarItIs() {
        Moving half = new Moving(PauseStep.COPY_OUT, NOW - 1_000_000_000L, 8 * GIB, 4 * GIB);
        Tenant tenant = tenant(TenantState.PAUSING, Depth.RELEASE, half, Host.NONE, false, "");

        assertThat(row(tenant)).startsWith("train (pausing 50%)  ");
        assertThat(PauseText.note(tenant, MadeUp.NOW)).contains("copying memory to the host, 4.0 GiB of 8.0 GiB, 4.3 GB/s, 1.0 s left");
        assertThat(PsTable.lines(List.of(tenant), MadeUp.NOW, MadeUp.PLAIN).getLast()).startsWith("train: copying memory to the host");
    }

    @Test
    void shouldSayWhatItWaitsForAndWhyItRefused() {
        Moving room = new Moving(PauseStep.ROOM, NOW, 0, 0);
        assertThat(PauseText.note(tenant(TenantState.RESUMING, Depth.RUN, room, Host.NONE, false, "GPU 0 has 1 GiB free"), MadeUp.NOW))
                .contains("waiting for room on the GPU: GPU 0 has 1 GiB free");
        assertThat(PauseText.note(tenant(TenantState.PAUSING, Depth.VACATE, Moving.NONE, Host.NONE, true, "it has peers"), MadeUp.NOW))
                .contains("could not vacate: it has peers");
    }

    @Test
    void shouldSayThatAProcessPausedItselfAndWhatTakesThatBack() {
        Tenant old = tenant(TenantState.EVICTED, Depth.RUN, Moving.NONE, new Host(GIB, 0, GIB), false, "");
        List<TenantProcess> processes = old.liveProcesses().stream().map(process -> new TenantProcess(process.slot(), process.identity(), true,
                process.attachedNanos(), process.calls(), process.passedCalls(), process.charges(), new ProcessPause(true, true, 0, 0, Moving.NONE,
                new Host(GIB, 0, GIB), Moved.NONE, NOW - 180_000_000_000L, "", new ProcessPause.Own(0x102, 0x102, 0)), process.commandLine())).toList();
        Tenant tenant = new Tenant(old.file(), old.name(), old.command(), old.state(), Command.NONE, old.root(), old.createdNanos(), old.uid(), old.limitsEpoch(),
                old.limits(), old.gpus(), processes, List.of());

        assertThat(row(tenant)).startsWith("train (evicted 3m, 1.0 GiB away)  ");
        assertThat(PauseText.note(tenant, MadeUp.NOW)).contains("1 of 1 process paused by a signal or file of an older tool; 'sluice resume train' takes that back");
    }

    @Test
    void shouldInspectWhereTheMemoryIs() {
        Tenant tenant = tenant(TenantState.EVICTED, Depth.RELEASE, Moving.NONE, new Host(8 * GIB, GIB, 9 * GIB), false, "");

        assertThat(InspectText.lines(tenant, OnBoards.NONE, MadeUp.NOW, MadeUp.PLAIN)).contains("state     evicted 3m, 8.0 GiB away",
                "away      8.0 GiB in host memory (reservoir 9.0 GiB), 1.0 GiB stay on the GPU");
    }
}
