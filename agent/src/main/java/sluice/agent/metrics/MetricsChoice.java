package sluice.agent.metrics;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.region.Tenant;

/// Which tenants are exported: those that run, and those that ended a short while ago, so that the last scrape of each comes after its end.
/// Their number is bounded. Running and older tenants come first, because a series that comes and goes is of no use. Users take turns, so
/// that many tenants of one user do not push out those of others.
final class MetricsChoice {
    static final Duration KEPT = Duration.ofMinutes(5);

    private static final Comparator<TenantLook> ORDER = Comparator.<TenantLook, Boolean>comparing(look -> !look.tenant().state().lives())
            .thenComparingLong(look -> look.tenant().createdNanos()).thenComparing(look -> look.tenant().file());

    private final int most;
    private Map<String, Instant> ended = Map.of();
    private boolean looked;

    MetricsChoice(int most) {
        this.most = most;
    }

    /// Receives every look of the clock. Tenants that ended before the first look are left out.
    synchronized void see(MachineLook look) {
        Map<String, Instant> now = new HashMap<>();
        for (TenantLook tenant : look.tenants()) {
            if (!tenant.tenant().state().lives()) {
                now.put(key(tenant.tenant()), ended.getOrDefault(key(tenant.tenant()), looked ? look.at() : Instant.EPOCH));
            }
        }
        ended = now;
        looked = true;
    }

    /// The tenants to export, and how many more there would be.
    record Chosen(List<TenantLook> tenants, int leftOut) {}

    synchronized Chosen choose(MachineLook look) {
        Map<Long, Integer> ranks = new HashMap<>();
        List<Ranked> all = byName(look).stream().sorted(ORDER)
                .map(tenant -> new Ranked(ranks.merge(tenant.tenant().uid(), 1, Integer::sum), tenant))
                .sorted(Comparator.comparingInt(Ranked::rank)).toList();
        return new Chosen(all.stream().limit(most).map(Ranked::tenant).toList(), Math.max(0, all.size() - most));
    }

    /// Its number among its user's tenants.
    private record Ranked(int rank, TenantLook tenant) {}

    /// A user may have tenants of the same name in two folders; the one that runs, or else the older one, stands for both.
    private Collection<TenantLook> byName(MachineLook look) {
        return look.tenants().stream().filter(tenant -> fits(tenant.tenant(), look.at()))
                .collect(Collectors.toMap(tenant -> tenant.tenant().uid() + "/" + tenant.tenant().name(), tenant -> tenant,
                        BinaryOperator.minBy(ORDER))).values();
    }

    private boolean fits(Tenant tenant, Instant now) {
        Instant end = ended.get(key(tenant));
        return tenant.state().lives() || end == null || end.plus(KEPT).isAfter(now);
    }

    private static String key(Tenant tenant) {
        return tenant.file() + "@" + tenant.createdNanos();
    }
}
