package sluice.api.json;

import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardTenant;
import tools.jackson.core.JsonGenerator;

/// What a tenant got of a GPU's time, for scripts. Spans are nanoseconds; `gotPermille` is of `gotOverNanos`, and -1 when it
/// cannot be said; where time is not measured, what was used and submitted is left out; a tenant that is not on the GPU's board has no `turns`.
public record ShareJson(JsonGenerator json, EarlierLook earlier, OnBoards boards) {
    void write(Tenant tenant, TenantGpu gpu) {
        GpuTime time = gpu.time();
        json.writeObjectPropertyStart("time");
        json.writeNumberProperty("capPermille", time.capPermille());
        json.writeNumberProperty("gotPermille", earlier.gotPermille(tenant, gpu));
        json.writeNumberProperty("gotOverNanos", earlier.overNanos(tenant, gpu));
        if (time.measured()) {
            json.writeNumberProperty("usedNanos", time.usedNanos());
            json.writeNumberProperty("sinceNanos", time.begun() ? time.readNanos() - time.beganNanos() : 0);
            json.writeNumberProperty("submittedCalls", time.submittedCalls());
            json.writeNumberProperty("unmeteredCalls", time.unmeteredCalls());
        }
        json.writeNumberProperty("capWaits", time.capWaits());
        json.writeNumberProperty("capWaitedNanos", time.capWaitedNanos());
        json.writeNumberProperty("turnWaits", time.turnWaits());
        json.writeNumberProperty("turnWaitedNanos", time.turnWaitedNanos());
        json.writeNumberProperty("roomWaits", time.roomWaits());
        json.writeNumberProperty("roomWaitedNanos", time.roomWaitedNanos());
        json.writeNumberProperty("memoryWaits", time.memoryWaits());
        json.writeNumberProperty("memoryWaitedNanos", time.memoryWaitedNanos());
        json.writeNumberProperty("debtNanos", time.debtNanos());
        json.writeNumberProperty("repayNanos", time.repayNanos());
        json.writeEndObject();
        boards.of(tenant, gpu).ifPresent(this::turns);
    }

    private void turns(BoardTenant entry) {
        json.writeObjectPropertyStart("turns");
        json.writeNumberProperty("lengthNanos", entry.lengthNanos());
        json.writeNumberProperty("planNanos", entry.planNanos());
        json.writeNumberProperty("turns", entry.turns());
        json.writeNumberProperty("heldNanos", entry.heldNanos());
        json.writeNumberProperty("balanceNanos", entry.balanceNanos());
        json.writeNumberProperty("waitingNanos", entry.waitingNanos());
        json.writeBooleanProperty("holds", entry.holds());
        json.writeNumberProperty("processes", entry.processes());
        json.writeEndObject();
    }
}
