package sluice.api.pause;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.limits.Limits;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause;
import sluice.region.place.Identity;

class RestoreRoomTest {
    private static final long GIB = 1L << 30;
    private static final GpuTime NO_TIME = new GpuTime(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    private static Tenant tenant(Depth depth) {
        Command command = Command.of(3, depth, 1);
        var pause = new ProcessPause(true, true, command.word(), 0, ProcessPause.Moving.NONE, new ProcessPause.Host(8 * GIB, GIB, 8 * GIB), ProcessPause.Moved.NONE, 1, "", ProcessPause.Own.NONE);
        return new Tenant(Path.of("/run/train.region"), "train", "python", TenantState.EVICTED, command, Identity.of(4711, 99), 1, 1000, 0, Limits.NONE,
                List.of(new TenantGpu(0, 5, "GPU-5", "five", 1, 80 * GIB, 0, MemoryUses.NONE, 0, 0, 0, 0, NO_TIME)),
                List.of(new TenantProcess(0, Identity.of(4712, 98), true, 1, 0, 0, List.of(), pause, "python")), List.of());
    }

    @Test
    void shouldSayWhatIsMissing() {
        assertThat(RestoreRoom.lacking(tenant(Depth.VACATE), gpu -> OptionalLong.of(gpu == 5 ? 9 * GIB : 0))).hasValueSatisfying(text ->
                assertThat(text).startsWith("GPU 5 has 9.0 GiB free, and tenant 'train' needs 9.1 GiB;"));
    }

    @Test
    void shouldFindRoom() {
        assertThat(RestoreRoom.lacking(tenant(Depth.VACATE), gpu -> OptionalLong.of(10 * GIB))).isEmpty();
        assertThat(RestoreRoom.lacking(tenant(Depth.VACATE), gpu -> OptionalLong.empty())).as("nobody knows").isEmpty();
    }

    @Test
    void shouldLeaveItToTheLibraryWhereTheDriverKeptItsState() {
        assertThat(RestoreRoom.lacking(tenant(Depth.RELEASE), gpu -> OptionalLong.of(0))).isEmpty();
    }
}
