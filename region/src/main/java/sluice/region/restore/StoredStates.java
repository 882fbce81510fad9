package sluice.region.restore;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.layout.AccountView;
import sluice.region.layout.RegionLayout;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.ProcessPause;
import sluice.region.place.SluiceException;

/// What the processes of a tenant take on its GPUs when they come back from a pause. A tenant writes most of this itself: no figure is below 0, sums stop at the
/// largest number, and what counts against others is no more than its quota.
///
/// @param stored   whether the driver's state of one of them is stored
/// @param promised whether such a process may restore it now, because a look has found room for it
/// @param early    whether a process whose library does not wait for a look is vacated
/// @param storedNanos when the state of the last one was stored
/// @param needs    by the UUID of a GPU
record StoredStates(boolean stored, boolean promised, boolean early, long storedNanos, Map<String, Need> needs) {
    /// The library counts a look for so long: ROOM_NANOS in native/src/pause/vacate.c.
    static final long VALID_NANOS = 1_000_000_000;

    private static final StoredStates NONE = new StoredStates(false, false, false, 0, Map.of());
    private static final long FEATURE_BIT = 1L << Arrays.asList(RegionLayout.FEATURE_NAMES.split(" ")).indexOf("room");

    /// @param asideBytes     what the driver takes when it restores its state
    /// @param awayBytes      memory that comes back afterwards; for that, the library can wait
    /// @param returningBytes the part of it that is asked to come back
    /// @param mostBytes      what the tenant may have there at all
    /// @param quotaBytes     what its quota leaves
    record Need(long asideBytes, long awayBytes, long returningBytes, long mostBytes, long quotaBytes) {
        static final Need NOTHING = new Need(0, 0, 0, 0, Long.MAX_VALUE);

        private static Need of(TenantGpu gpu) {
            long used = Math.max(0, gpu.usedBytes());
            long limit = gpu.limitBytes();
            return new Need(0, 0, 0, limit > 0 ? Math.max(limit, used) : Math.max(0, gpu.totalBytes()), limit > 0 ? Math.max(0, limit - used) : Long.MAX_VALUE);
        }

        long sum() {
            return saturated(asideBytes, awayBytes);
        }

        /// What it takes from others when it comes back: a hostile tenant could write any number.
        long claimed(boolean promised) {
            return Math.min(promised ? sum() : returningBytes, mostBytes);
        }

        private Need plus(long aside, long away, boolean returns) {
            return new Need(saturated(asideBytes, aside), saturated(awayBytes, away), returns ? saturated(returningBytes, away) : returningBytes, mostBytes, quotaBytes);
        }
    }

    /// Of two numbers, of which the second may be anything.
    static long saturated(long sum, long more) {
        long together = sum + Math.max(0, more);
        return together < 0 ? Long.MAX_VALUE : together;
    }

    Need on(TenantGpu gpu) {
        return needs.getOrDefault(gpu.uuid(), Need.NOTHING);
    }

    /// None where the file is gone, or is another tenant's.
    static StoredStates read(Tenant seen) {
        return read(seen, System::nanoTime);
    }

    /// A process enters the step before it compares the times. So a reader that knows the time first sees the step, or the time has run out for both.
    static StoredStates read(Tenant seen, LongSupplier clock) {
        try (Region region = Region.openReadOnly(seen.file())) {
            long now = clock.getAsLong();
            return read(region, Tenant.read(seen.file()), seen, now);
        } catch (SluiceException e) {
            return NONE;
        } catch (InternalError e) {
            return NONE; // truncated during the read
        }
    }

    private static StoredStates read(Region region, Tenant now, Tenant seen, long nowNanos) {
        if (now.createdNanos() != seen.createdNanos()) {
            return NONE;
        }
        long last = 0;
        boolean promised = false;
        boolean early = false;
        Map<String, Need> needs = new HashMap<>();
        now.gpus().forEach(gpu -> needs.merge(gpu.uuid(), Need.of(gpu), (a, b) -> a));
        for (TenantProcess process : now.liveProcesses()) {
            ProcessPause pause = process.pause();
            long storedNanos = region.slot(process.slot()).storedNanos();
            last = Math.max(last, storedNanos);
            promised |= storedNanos != 0 && isPromised(storedNanos, region.limits().roomNanos(), pause.moving().step(), nowNanos);
            boolean isEarly = now.asked().depth() == Depth.VACATE && pause.attended() && (region.slot(process.slot()).features() & FEATURE_BIT) == 0;
            early |= isEarly;
            boolean returns = !now.asked().depth().isAway() && !(pause.own().depth().isAway() && !pause.own().isRefused());
            for (TenantGpu gpu : now.gpus()) {
                AccountView account = region.account(process.slot(), gpu.entry());
                // Of an older library nobody knows how much is on which GPU.
                long aside = isEarly ? pause.host().stayingBytes() : account.asideBytes();
                long away = isEarly ? pause.host().awayBytes() : account.awayBytes();
                needs.compute(gpu.uuid(), (_, before) -> before.plus(aside, away, returns));
            }
        }
        return new StoredStates(last != 0, promised, early, last, needs);
    }

    private static boolean isPromised(long storedNanos, long roomNanos, PauseStep step, long nowNanos) {
        return roomNanos > storedNanos && (step == PauseStep.RESTORE || nowNanos - roomNanos < VALID_NANOS);
    }

    /// Tells the tenant that a look that began then has found room for it.
    static void promise(Path file, long createdNanos, long lookedNanos) {
        try (Region region = Region.openReadWrite(file)) {
            if (region.header().createdNanos() == createdNanos) {
                region.limits().roomNanos(lookedNanos);
                region.wakeForCommand();
            }
        } catch (InternalError e) {
            // Truncated: its processes cannot read it either.
        }
    }
}
