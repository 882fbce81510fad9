package sluice.region.restore;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.layout.AccountView;
import sluice.region.pause.PauseStep;
import sluice.region.place.SluiceException;

/// What the processes of a tenant take on its GPUs when they come back from a pause.
///
/// @param stored   whether the driver's state of one of them is stored
/// @param promised whether such a process may restore it now, because a look has found room for it
/// @param resumes  whether the tenant is asked to have its memory on the GPU
/// @param needs    by the UUID of a GPU
record StoredStates(boolean stored, boolean promised, boolean resumes, Map<String, Need> needs) {
    /// The library counts a look for so long: ROOM_NANOS in native/src/pause/vacate.c.
    static final long VALID_NANOS = 1_000_000_000;

    private static final StoredStates NONE = new StoredStates(false, false, false, Map.of());

    /// @param asideBytes what the driver takes when it restores its state
    /// @param awayBytes  memory that comes back afterwards; for that, the library can wait
    record Need(long asideBytes, long awayBytes) {
        static final Need NOTHING = new Need(0, 0);

        long sum() {
            return asideBytes + awayBytes;
        }

        private Need plus(AccountView account) {
            return new Need(asideBytes + account.asideBytes(), awayBytes + account.awayBytes());
        }
    }

    Need on(TenantGpu gpu) {
        return needs.getOrDefault(gpu.uuid(), Need.NOTHING);
    }

    /// None where the file is gone, or is another tenant's.
    static StoredStates read(Tenant seen) {
        try (Region region = Region.openReadOnly(seen.file())) {
            return read(region, Tenant.read(seen.file()), seen);
        } catch (SluiceException e) {
            return NONE;
        }
    }

    private static StoredStates read(Region region, Tenant now, Tenant seen) {
        if (now.createdNanos() != seen.createdNanos()) {
            return NONE;
        }
        boolean stored = false;
        boolean promised = false;
        Map<String, Need> needs = new HashMap<>();
        for (TenantProcess process : now.liveProcesses()) {
            long storedNanos = region.slot(process.slot()).storedNanos();
            stored |= storedNanos != 0;
            promised |= storedNanos != 0 && isPromised(storedNanos, region.limits().roomNanos(), process.pause().moving().step());
            for (TenantGpu gpu : now.gpus()) {
                needs.merge(gpu.uuid(), Need.NOTHING.plus(region.account(process.slot(), gpu.entry())), (a, b) ->
                        new Need(a.asideBytes() + b.asideBytes(), a.awayBytes() + b.awayBytes()));
            }
        }
        return new StoredStates(stored, promised, !now.asked().depth().isAway(), needs);
    }

    /// A process enters the step before it compares the times, so it is in that step, or the time decides.
    private static boolean isPromised(long storedNanos, long roomNanos, PauseStep step) {
        return roomNanos > storedNanos && (step == PauseStep.RESTORE || System.nanoTime() - roomNanos < VALID_NANOS);
    }

    /// Tells the tenant that a look that began then has found room for it.
    static void promise(Path file, long createdNanos, long lookedNanos) {
        try (Region region = Region.openReadWrite(file)) {
            if (region.header().createdNanos() == createdNanos) {
                region.limits().roomNanos(lookedNanos);
                region.wakeForCommand();
            }
        }
    }
}
