package sluice.proof.stage;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import sluice.cuda.Nvml;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.CheckSkipped;
import sluice.region.CommandChange;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.TenantPause;
import sluice.region.restore.RestoreRoom;

/// A check's command to a tenant: to pause, this deep, or to run again.
public record Asked(TestTenant tenant, CommandChange change) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofMillis(1);
    private static final long LOOKS_APART_NANOS = 100_000_000;

    static Asked to(Depth depth, TestTenant tenant) {
        if (depth != Depth.VACATE) {
            lookForRoom(tenant);
        }
        return new Asked(tenant, CommandChange.to(depth, tenant.read()));
    }

    private static void lookForRoom(TestTenant tenant) {
        new RestoreRoom(() -> List.of(tenant.read()), Asked::freeBytes).look(tenant.read());
    }

    private static OptionalLong freeBytes(TenantGpu gpu) {
        return Nvml.open().stream().flatMap(nvml -> nvml.gpus().stream()).filter(seen -> seen.uuid().equals(gpu.uuid())).mapToLong(Nvml.Gpu::freeBytes).findFirst();
    }

    /// Waits until each process has done it. A machine that lacks the host memory for it cannot show anything.
    public TenantPause done() {
        Tenant seen = await("do it", now -> now.pause().refused()
                || now.liveProcesses().stream().allMatch(process -> process.pause().hasDone(change.asked())));
        TenantPause pause = seen.pause();
        if (pause.refused() && pause.reason().contains(" of host memory, ")) {
            throw new CheckSkipped("this machine has too little host memory: the tenant " + pause.reason());
        }
        if (pause.refused()) {
            throw new CheckFailed("a process refused to be " + change.asked().depth().done() + ": " + pause.reason());
        }
        return pause;
    }

    /// Waits until a process refuses.
    public TenantPause refusal() {
        return await("refuse", now -> now.pause().refused()).pause();
    }

    /// Waits for anything else that the tenant shows.
    public TenantPause until(String what, Predicate<TenantPause> shown) {
        return await(what, now -> shown.test(now.pause())).pause();
    }

    private Tenant await(String what, Predicate<Tenant> shown) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        long looked = System.nanoTime();
        while (true) {
            Tenant now = tenant.read();
            if (now.pause().moving().step() == PauseStep.ROOM && System.nanoTime() - looked > LOOKS_APART_NANOS) {
                lookForRoom(tenant);
                looked = System.nanoTime();
            }
            if (shown.test(now)) {
                return now;
            }
            if (System.nanoTime() > end || Thread.currentThread().isInterrupted()) {
                throw new CheckFailed("asked to be " + change.asked().depth().done() + ", the tenant did not " + what + " within "
                        + PATIENCE.toSeconds() + " s; it was " + now.pause().moving().step().words() + " " + now.pause().reason());
            }
            LockSupport.parkNanos(LOOK.toNanos());
        }
    }
}
