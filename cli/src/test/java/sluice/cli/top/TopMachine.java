package sluice.cli.top;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import sluice.cuda.Nvml;
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
import sluice.region.place.Identity;

/// A machine that never was, for `sluice top` to look at: how much its tenants use and get is easy to reckon.
final class TopMachine {
    static final long GIB = 1L << 30;
    private static final long SECOND = 1_000_000_000;
    private static final Instant NOON = Instant.parse("2026-05-04T12:00:00Z");

    private TopMachine() {}

    /// One GPU of 100 GiB; of its time train gets a half, infer a quarter, notes nobody measures.
    static TopLook one() {
        return TopLook.of(tenants(10), boards(1000), List.of(), NOON.plusSeconds(10), 10 * SECOND,
                TopLook.of(tenants(9), boards(900), List.of(), NOON.plusSeconds(9), 9 * SECOND, TopLook.NONE));
    }

    /// The same, with so many GPUs that the driver knows of, of which 30 GiB are used.
    static TopLook several(int gpus) {
        List<Nvml.Gpu> machine = new ArrayList<>();
        for (int gpu = 0; gpu < gpus; gpu++) {
            machine.add(new Nvml.Gpu(gpu, uuid(gpu), "NVIDIA H200", 100 * GIB, 70 * GIB, 30 * GIB));
        }
        return TopLook.of(tenants(10), boards(1000), machine, NOON.plusSeconds(10), 10 * SECOND, TopLook.NONE);
    }

    /// So many tenants on one GPU.
    static TopLook crowded(int tenants) {
        List<Tenant> crowd = new ArrayList<>();
        for (int at = 0; at < tenants; at++) {
            crowd.add(tenant("job-" + at, at, GIB, GIB, new ComputeLimits(ComputeCaps.none(), true, 1, Priority.NORMAL, false, 0),
                    time(10, 10.0 / tenants), List.of()));
        }
        return TopLook.of(crowd, List.of(), List.of(), NOON.plusSeconds(10), 10 * SECOND, TopLook.NONE);
    }

    private static List<Tenant> tenants(int second) {
        return List.of(
                tenant("train", 1, 40 * GIB, 42 * GIB, new ComputeLimits(ComputeCaps.of(500), false, 1, Priority.NORMAL, false, 0),
                        time(second, 0.5 * second), List.of(new TenantError("cuMemAlloc of 4.0 GiB refused; raise --memory", 7, 0, nanos(3), 1001))),
                tenant("infer", 2, 10 * GIB, 20 * GIB, new ComputeLimits(ComputeCaps.none(), true, 3, Priority.HIGH, false, 0),
                        time(second, 0.25 * second), List.of()),
                tenant("notes", 3, 5 * GIB, 0, ComputeLimits.NONE, new GpuTime(second * SECOND, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), List.of()));
    }

    private static GpuTime time(int second, double usedSeconds) {
        return new GpuTime(second * SECOND, 0, 1, 0, (long) (usedSeconds * SECOND), 1000L * second, 0, 0, 0, second, second * SECOND / 5, 0, 0, 0, 0);
    }

    static Tenant tenant(String name, int number, long used, long limit, ComputeLimits compute, GpuTime time, List<TenantError> errors) {
        MemoryUses uses = new MemoryUses(used, 0, 0, 0, 0, 0, 0, 0);
        GpuTime capped = new GpuTime(time.readNanos(), compute.caps().permille(0), time.beganNanos(), 0, time.usedNanos(), time.submittedCalls(),
                0, 0, 0, time.turnWaits(), time.turnWaitedNanos(), 0, 0, 0, 0);
        TenantGpu gpu = new TenantGpu(0, 0, uuid(0), "NVIDIA H200", 2 << 20, 100 * GIB, used, uses, limit, used, errors.isEmpty() ? 0 : 7, 0, capped);
        TenantProcess process = new TenantProcess(0, new Identity(900L << 22 | 1000 + number), true, nanos(0), 0, 0,
                List.of(new TenantProcess.Charge(0, used, 0, uses, 1, 1)), ProcessPause.NONE, "python " + name + ".py");
        return new Tenant(Path.of("/dev/shm/sluice-1000/" + name + ".region"), name, "python " + name + ".py --long", TenantState.RUNNING, Command.NONE,
                new Identity(900L << 22 | 1000 + number), nanos(number), 1000, 0, new Limits(MemoryLimits.of(limit), compute, OnOom.FAIL, OnError.FAIL),
                List.of(gpu), List.of(process), errors);
    }

    private static List<BoardState> boards(long turns) {
        return List.of(new BoardState(Path.of("/dev/shm/sluice-1000/board"), uuid(0), 0, 0, 0, turns, 0,
                List.of(new BoardTenant(0, nanos(1), "train", 1, Priority.NORMAL, false, 0, 0, 0, SECOND, 50, true, true, 0, 1))));
    }

    private static String uuid(int gpu) {
        return "GPU-00000000-0000-0000-0000-" + String.format("%012d", gpu);
    }

    private static long nanos(long second) {
        return (NOON.getEpochSecond() - 60 + second) * SECOND;
    }

    static String text(List<AttributedString> lines) {
        return String.join("\n", lines.stream().map(line -> line.toString().stripTrailing()).toList());
    }
}
