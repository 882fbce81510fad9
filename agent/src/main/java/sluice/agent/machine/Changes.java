package sluice.agent.machine;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sluice.api.pause.RestText;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.limits.Size;

/// Makes events of the differences between two looks. Tenants of the first look give no event.
final class Changes {
    private static final int MOST_TOLD = 100;

    private final EventLog events;
    private final Map<Long, Integer> told = new HashMap<>();
    private Map<String, Tenant> seen;

    Changes(EventLog events) {
        this.events = events;
    }

    void see(List<Tenant> tenants) {
        Map<String, Tenant> now = new HashMap<>();
        tenants.forEach(tenant -> now.put(tenant.file() + "@" + tenant.createdNanos(), tenant));
        if (seen != null) {
            Set<String> gone = new HashSet<>(seen.keySet());
            gone.removeAll(now.keySet());
            gone.stream().map(seen::get).filter(tenant -> tenant.state().lives()).forEach(tenant -> tell("ended", tenant, "ended"));
            now.forEach((key, tenant) -> compare(seen.get(key), tenant));
        }
        told.forEach((uid, number) -> {
            if (number > MOST_TOLD) {
                events.add("bound", "", uid, number - MOST_TOLD + " further events of this moment are left out");
            }
        });
        told.clear();
        seen = now;
    }

    private void compare(Tenant before, Tenant now) {
        if (before == null) {
            if (now.state().lives()) {
                tell("began", now, "began: " + now.command());
            }
            return;
        }
        if (before.state().lives() && !now.state().lives()) {
            tell("ended", now, "ended");
        }
        pause(before, now);
        if (before.limitsEpoch() != now.limitsEpoch()) {
            tell("limits", now, "memory " + now.memory() + ", compute " + now.compute().caps() + ", weight " + now.compute().weight()
                    + ", priority " + now.compute().priority().word());
        }
        for (TenantGpu gpu : now.gpus()) {
            long refused = before.gpus().stream().filter(old -> old.entry() == gpu.entry()).mapToLong(TenantGpu::refusedCalls).sum();
            if (gpu.refusedCalls() > refused) {
                tell("refused", now, gpu.refusedCalls() - refused + " allocations refused on GPU " + gpu.index() + ", the last of "
                        + Size.format(gpu.lastRefusedBytes()));
            }
        }
        for (TenantError error : now.errors()) {
            if (before.errors().stream().noneMatch(old -> old.text().equals(error.text()))) {
                tell("error", now, error.text());
            }
        }
    }

    private void pause(Tenant before, Tenant now) {
        if (before.state() != now.state()) {
            switch (now.state()) {
                case PAUSED -> tell("paused", now, "paused; its memory stays on the GPU");
                case EVICTED -> tell("released", now, now.asked().depth().done() + ": " + Size.format(now.pause().host().awayBytes()) + " are in host memory, "
                        + RestText.of(now.pause().host(), now.asked().depth()));
                case RUNNING -> {
                    if (before.asked().depth().isPause() || before.state() == TenantState.RESUMING) {
                        tell("resumed", now, "runs again");
                    }
                }
                default -> { }
            }
        }
        for (TenantProcess process : now.liveProcesses()) {
            long refused = before.processes().stream().filter(old -> old.identity().equals(process.identity())).mapToLong(old -> old.pause().refused()).findFirst().orElse(0);
            if (process.pause().refused() != 0 && process.pause().refused() != refused) {
                tell("refused", now, "process " + process.identity().pid() + " could not pause: " + process.pause().reason());
            }
        }
    }

    /// Events of one look are bounded for each user, so that one user cannot flood the listeners.
    private void tell(String kind, Tenant tenant, String text) {
        if (told.merge(tenant.uid(), 1, Integer::sum) <= MOST_TOLD) {
            events.add(kind, tenant.name(), tenant.uid(), text);
        }
    }
}
