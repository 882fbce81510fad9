package sluice.cli;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import sluice.region.Identity;
import sluice.region.MemoryLimits;
import sluice.region.MemoryUses;
import sluice.region.OnError;
import sluice.region.OnOom;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;

/// Tenants that never were.
final class MadeUp {
    static final Instant NOW = Instant.parse("2026-05-04T12:00:00Z");
    static final Screen PLAIN = new Screen(false, false);
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;

    private MadeUp() {}

    static Tenant training() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/train.region"), "train", "python train.py --epochs 3", true,
                new Identity(700L << 22 | 4711), nanos(-7500), 1000, OnError.FAIL, 2, MemoryLimits.parse("0=4g,1=8g"), OnOom.FAIL,
                List.of(gpu(0, 0, 4 * GIB, 3900 * MIB, 12), gpu(1, 1, 8 * GIB, 512 * MIB, 0)),
                List.of(process(0, 4711, true, 3800 * MIB), process(7, 4712, false, GIB)),
                List.of(new TenantError("cuMemAlloc of 1.0 GiB refused; raise --memory", 12, nanos(-100), nanos(-42), 4711)));
    }

    /// Training after its quota was lowered below what it uses.
    static Tenant above() {
        Tenant old = training();
        return new Tenant(old.file(), old.name(), old.command(), true, old.root(), old.createdNanos(), 1000, OnError.FAIL, 3,
                MemoryLimits.parse("3g"), OnOom.FAIL, List.of(gpu(0, 0, 3 * GIB, 3900 * MIB, 12)), old.processes(), List.of());
    }

    static Tenant idle() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/shell.region"), "shell", "bash\033[31m -c " + "x".repeat(80), true,
                new Identity(800L << 22 | 99), nanos(-30), 1000, OnError.RUN, 0, MemoryLimits.none(), OnOom.FAIL,
                List.of(), List.of(), List.of());
    }

    static Tenant ended() {
        return new Tenant(Path.of("/dev/shm/sluice-1000/old.region"), "old", "./a.out", false,
                new Identity(600L << 22 | 98), nanos(-2 * 86400), 1000, OnError.FAIL, 0, MemoryLimits.parse("1g"), new OnOom(30_000),
                List.of(gpu(0, 0, GIB, 0, 0)), List.of(), List.of());
    }

    private static long nanos(long seconds) {
        return (NOW.getEpochSecond() + seconds) * 1_000_000_000L;
    }

    private static MemoryUses uses(long bytes) {
        return bytes == 0 ? MemoryUses.NONE : new MemoryUses(bytes - 200 * MIB, 4 * MIB, 64 * MIB, 0, 2 * MIB, 0, 128 * MIB, 2 * MIB);
    }

    private static TenantGpu gpu(int entry, int index, long limit, long used, long refused) {
        return new TenantGpu(entry, index, "GPU-00000000-0000-0000-0000-00000000000" + index, "NVIDIA H200", 2 * MIB,
                141 * GIB, used, uses(used), limit, used + 100 * MIB, refused, refused == 0 ? 0 : GIB);
    }

    private static TenantProcess process(int slot, long pid, boolean alive, long charged) {
        return new TenantProcess(slot, new Identity(900L << 22 | pid), alive, nanos(-7000), 1234, 5,
                List.of(new TenantProcess.Charge(0, charged, 2 * MIB, uses(charged), 3, 1000),
                        new TenantProcess.Charge(1, 0, 0, MemoryUses.NONE, 0, 0)),
                alive ? "python train.py" : "");
    }
}
