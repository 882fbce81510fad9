package sluice.api.json;

import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.boards.BoardTenant;

/// The part of a GPU's time that a tenant got, for scripts. Spans are nanoseconds. `gotPermille` is of `gotOverNanos`; -1: not known. If
/// time is not measured, used time and submitted calls are left out. A tenant that is not on the GPU's board has no `turns`.
final class ShareJson {
    private ShareJson() {}

    /// Spans are turned back into moments: client and agent read the same clock.
    static GpuTime time(JsonProperties<SeenGpu> at) {
        int capPermille = at.count("capPermille", seen -> seen.time().capPermille());
        at.also((json, seen) -> {
            json.writeNumberProperty("gotPermille", seen.earlier().gotPermille(seen.tenant(), seen.gpu()));
            json.writeNumberProperty("gotOverNanos", seen.earlier().overNanos(seen.tenant(), seen.gpu()));
        });
        long used = at.numberIf(SeenGpu::measured, "usedNanos", seen -> seen.time().usedNanos());
        long since = at.numberIf(SeenGpu::measured, "sinceNanos", seen -> sinceNanos(seen.time()));
        long submitted = at.numberIf(SeenGpu::measured, "submittedCalls", seen -> seen.time().submittedCalls());
        long unmetered = at.numberIf(SeenGpu::measured, "unmeteredCalls", seen -> seen.time().unmeteredCalls());
        long capWaits = at.number("capWaits", seen -> seen.time().capWaits());
        long capWaited = at.number("capWaitedNanos", seen -> seen.time().capWaitedNanos());
        long turnWaits = at.number("turnWaits", seen -> seen.time().turnWaits());
        long turnWaited = at.number("turnWaitedNanos", seen -> seen.time().turnWaitedNanos());
        long roomWaits = at.number("roomWaits", seen -> seen.time().roomWaits());
        long roomWaited = at.number("roomWaitedNanos", seen -> seen.time().roomWaitedNanos());
        long memoryWaits = at.number("memoryWaits", seen -> seen.time().memoryWaits());
        long memoryWaited = at.number("memoryWaitedNanos", seen -> seen.time().memoryWaitedNanos());
        at.also((json, seen) -> json.writeNumberProperty("debtNanos", seen.time().debtNanos()));
        long repay = at.number("repayNanos", seen -> seen.time().repayNanos());
        long now = System.nanoTime();
        return new GpuTime(now, capPermille, since == 0 ? 0 : now - since, now + repay, used, submitted, unmetered, capWaits, capWaited,
                turnWaits, turnWaited, roomWaits, roomWaited, memoryWaits, memoryWaited);
    }

    private static long sinceNanos(GpuTime time) {
        return time.begun() ? time.readNanos() - time.beganNanos() : 0;
    }

    /// A tenant's entry on a board.
    record Turns(long planNanos, long turns, long heldNanos, long balanceNanos, long waitingNanos, boolean holds, int processes) {
        BoardTenant of(Tenant tenant) {
            return new BoardTenant(0, tenant.createdNanos(), tenant.name(), tenant.compute().weight(), tenant.compute().priority(),
                    tenant.compute().exclusive(), tenant.compute().turnMicros(), planNanos, balanceNanos, heldNanos, turns, holds, false,
                    waitingNanos, processes);
        }
    }

    static Turns turns(JsonProperties<BoardTenant> at) {
        at.also((json, entry) -> json.writeNumberProperty("lengthNanos", entry.lengthNanos()));
        return new Turns(at.number("planNanos", BoardTenant::planNanos), at.number("turns", BoardTenant::turns),
                at.number("heldNanos", BoardTenant::heldNanos), at.number("balanceNanos", BoardTenant::balanceNanos),
                at.number("waitingNanos", BoardTenant::waitingNanos), at.flag("holds", BoardTenant::holds),
                at.count("processes", BoardTenant::processes));
    }
}
