package sluice.cli.tables;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import sluice.api.model.OnBoards;
import sluice.cli.output.Screen;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantState;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.pause.Command;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;

/// Tenants that never were.
public final class MadeUp {
    public static final Instant NOW = Instant.parse("2026-05-04T12:00:00Z");
    public static final Screen PLAIN = new Screen(false, false);
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    private static final long SECOND = 1_000_000_000;
    private static final GpuTime UNUSED = new GpuTime(100 * SECOND, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    /// Half a minute after a kernel that took 10 s.
    private static final GpuTime CAPPED =
            new GpuTime(100 * SECOND, 250, 40 * SECOND, 108 * SECOND, 17 * SECOND, 12_345, 3, 100, 40 * SECOND, 0, 0, 0, 0, 0, 0);

    private MadeUp() {}

    static Tenant training() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/train.region"), "train", "python train.py --epochs 3", TenantState.RUNNING, Command.NONE,
                new Identity(700L << 22 | 4711), nanos(-7500), 1000, 2, new Limits(MemoryLimits.parse("0=4g,1=8g"),
                new ComputeLimits(ComputeCaps.parse("0=25%"), false, 1, Priority.NORMAL, false, 0), OnOom.FAIL, OnError.FAIL),
                List.of(gpu(0, 0, 4 * GIB, 3900 * MIB, 12, CAPPED), gpu(1, 1, 8 * GIB, 512 * MIB, 0, UNUSED)),
                List.of(process(0, 4711, true, 3800 * MIB), process(7, 4712, false, GIB)),
                List.of(new TenantError("cuMemAlloc of 1.0 GiB refused; raise --memory", 12, nanos(-100), nanos(-42), 4711)));
    }

    /// Training whose cap shall be strict.
    static Tenant strict(int slices) {
        Tenant old = training();
        TenantProcess process = process(0, 4711, true, 3800 * MIB);
        return new Tenant(old.file(), old.name(), old.command(), TenantState.RUNNING, Command.NONE, old.root(), old.createdNanos(), 1000, 2,
                new Limits(old.memory(), new ComputeLimits(ComputeCaps.parse("0=25%"), true, 3, Priority.NORMAL, false, 0, true), OnOom.FAIL, OnError.FAIL), old.gpus(),
                List.of(new TenantProcess(0, process.identity(), true, 0, 0, 0, process.charges(), ProcessPause.NONE, new TimeSlices(slices, 0), "python train.py")), List.of());
    }

    /// Training after its quota was lowered below what it uses.
    static Tenant above() {
        Tenant old = training();
        return new Tenant(old.file(), old.name(), old.command(), TenantState.RUNNING, Command.NONE, old.root(), old.createdNanos(), 1000, 3,
                new Limits(MemoryLimits.parse("3g"), ComputeLimits.NONE, OnOom.FAIL, OnError.FAIL), List.of(gpu(0, 0, 3 * GIB, 3900 * MIB, 12, UNUSED)), old.processes(), List.of());
    }

    static Tenant starting() {
        Tenant idle = idle();
        return new Tenant(idle.file(), idle.name(), idle.command(), TenantState.STARTING, Command.NONE, idle.root(), idle.createdNanos(), 1000, 0,
                idle.limits(), List.of(), List.of(), List.of());
    }

    static Tenant idle() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/shell.region"), "shell", "bash\033[31m -c " + "x".repeat(80), TenantState.RUNNING, Command.NONE,
                new Identity(800L << 22 | 99), nanos(-30), 1000, 0,
                new Limits(MemoryLimits.none(), ComputeLimits.NONE, OnOom.FAIL, OnError.RUN),
                List.of(), List.of(), List.of());
    }

    static Tenant ended() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/old.region"), "old", "./a.out", TenantState.ENDED, Command.NONE,
                new Identity(600L << 22 | 98), nanos(-2 * 86400), 1000, 0,
                new Limits(MemoryLimits.parse("1g"), ComputeLimits.NONE, new OnOom(30_000), OnError.FAIL),
                List.of(gpu(0, 0, GIB, 0, 0, UNUSED)), List.of(), List.of());
    }

    /// Its driver did not tell how much memory the GPU has.
    static Tenant onAGpuOfUnknownSize() {
        TenantGpu gpu = training().gpus().getLast();
        return new Tenant(ended().file(), "old", "./a.out", TenantState.ENDED, Command.NONE, ended().root(), nanos(-60), 1000, 0, Limits.NONE,
                List.of(new TenantGpu(0, 0, gpu.uuid(), gpu.name(), gpu.granularityBytes(), 0, gpu.usedBytes(), gpu.uses(), 0,
                        gpu.peakBytes(), 0, 0, UNUSED)), List.of(), List.of());
    }

    /// Takes turns with others, and is in nobody's debt.
    static Tenant sharing() {
        return sharing(new GpuTime(100 * SECOND, 0, 20 * SECOND, 0, 36 * SECOND, 20_000, 0, 0, 0, 300, 4 * SECOND, 0, 0, 0, 0));
    }

    /// Ten seconds before.
    static Tenant sharingEarlier() {
        return sharing(new GpuTime(90 * SECOND, 0, 20 * SECOND, 0, 30 * SECOND, 17_000, 0, 0, 0, 250, 3 * SECOND, 0, 0, 0, 0));
    }

    /// Others of higher priority leave it 0.2 %.
    static Tenant starved() {
        Tenant other = sharing();
        return new Tenant(other.file(), "batch", other.command(), TenantState.RUNNING, Command.NONE, other.root(), other.createdNanos(), 1000, 0, new Limits(MemoryLimits.none(),
                new ComputeLimits(ComputeCaps.none(), true, 1, Priority.LOW, false, 0), OnOom.FAIL, OnError.FAIL), List.of(gpu(0, 0, 0, 512 * MIB, 0,
                new GpuTime(100 * SECOND, 0, 20 * SECOND, 0, SECOND / 6, 20, 0, 0, 0, 1500, 79 * SECOND, 0, 0, 0, 0))), List.of(), List.of());
    }

    private static Tenant sharing(GpuTime time) {
        return new Tenant(Path.of("/dev/shm/sluice-1000/infer.region"), "infer", "./serve --model big.bin", TenantState.RUNNING, Command.NONE,
                new Identity(850L << 22 | 4800), nanos(-90), 1000, 0, new Limits(MemoryLimits.none(),
                new ComputeLimits(ComputeCaps.none(), true, 3, Priority.HIGH, false, 5000), OnOom.FAIL, OnError.FAIL),
                List.of(gpu(0, 0, 0, 512 * MIB, 0, time)),
                List.of(), List.of());
    }

    /// Sharing on the board of its GPU, by an agent's plan.
    static OnBoards board() {
        return new OnBoards(List.of(new BoardState(Path.of("/dev/shm/sluice-1000/board"), "GPU-00000000-0000-0000-0000-000000000000",
                100 * SECOND, 0, 0, 7, 1, List.of(new BoardTenant(4, sharing().createdNanos(), "infer", 3, Priority.HIGH, false, 5000,
                        15_000_000, -2_500_000, 37 * SECOND, 2400, false, false, 3_000_000, 2)))));
    }

    /// What the clock on the wall shows some seconds from now.
    static String clock(int seconds) {
        return DateTimeFormatter.ofPattern("HH:mm:ss").format(NOW.plusSeconds(seconds).atZone(ZoneId.systemDefault()));
    }

    private static long nanos(long seconds) {
        return (NOW.getEpochSecond() + seconds) * 1_000_000_000L;
    }

    private static MemoryUses uses(long bytes) {
        return bytes == 0 ? MemoryUses.NONE : new MemoryUses(bytes - 200 * MIB, 4 * MIB, 64 * MIB, 0, 2 * MIB, 0, 128 * MIB, 2 * MIB);
    }

    private static TenantGpu gpu(int entry, int index, long limit, long used, long refused, GpuTime time) {
        return new TenantGpu(entry, index, "GPU-00000000-0000-0000-0000-00000000000" + index, "NVIDIA H200", 2 * MIB,
                141 * GIB, used, uses(used), limit, used + 100 * MIB, refused, refused == 0 ? 0 : GIB, time);
    }

    private static TenantProcess process(int slot, long pid, boolean alive, long charged) {
        return new TenantProcess(slot, new Identity(900L << 22 | pid), alive, nanos(-7000), 1234, 5,
                List.of(new TenantProcess.Charge(0, charged, 2 * MIB, uses(charged), 3, 1000),
                        new TenantProcess.Charge(1, 0, 0, MemoryUses.NONE, 0, 0)),
                ProcessPause.NONE, alive ? "python train.py" : "");
    }
}
