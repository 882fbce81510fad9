package sluice.agent.metrics;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import sluice.region.Tenant;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;

/// When each tenant last launched a kernel: between the last two scrapes of which the second saw more launches. A launch itself records no
/// time, because reading a clock would cost as much as all the rest of it.
final class LastKernels {
    private static final int MOST = 16_384;

    private record Seen(long launches, Optional<Instant> grown) {}

    private final InstantSource clock;
    private final Map<String, Seen> tenants = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Seen> eldest) {
            return size() > MOST;
        }
    };

    LastKernels(InstantSource clock) {
        this.clock = clock;
    }

    /// The time since then. Empty until the number has grown once: the times of launches before the first scrape are not known.
    synchronized Optional<Duration> elapsed(Tenant tenant, TenantCalls calls) {
        long launches = calls.done(CallKind.KERNEL) + calls.done(CallKind.GRAPH);
        Instant now = clock.instant();
        String key = tenant.file() + "@" + tenant.createdNanos();
        Seen before = tenants.get(key);
        Optional<Instant> grown = before == null ? Optional.empty() : launches > before.launches() ? Optional.of(now) : before.grown();
        tenants.put(key, new Seen(launches, grown));
        return grown.map(time -> Duration.between(time, now));
    }
}
