package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;
import static sluice.agent.metrics.MetricsOfTenants.plus;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.region.Tenant;
import sluice.region.TenantProcess;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.TenantPause;

/// Pauses of tenants. Each process counts for itself, so a tenant's counters begin anew when a process of it ends.
final class MetricsOfPauses implements MetricsSource {
    private static final double NANOS = 1e9;
    private static final List<String> TENANT = MetricsOfTenants.TENANT;
    private static final List<String> DIRECTION = plus(TENANT, "direction");

    private static final MetricsFamily PAUSED = gauge("sluice_tenant_paused", TENANT, "1 while the tenant is paused, released or vacated, or is about to be.");
    private static final MetricsFamily AWAY = gauge("sluice_tenant_away_bytes", TENANT, "Device memory of the tenant that is in host memory.");
    private static final MetricsFamily RESERVOIR = gauge("sluice_tenant_reservoir_bytes", TENANT, "Host memory reserved for released device memory of the tenant, in use or not.");
    private static final MetricsFamily RELEASES = counter("sluice_tenant_releases_total", TENANT, "How often memory of a process of the tenant left the GPU.");
    private static final MetricsFamily HELD = counter("sluice_tenant_paused_seconds_total", TENANT,
            "How long calls were held by pauses that have ended, all processes together.");
    private static final MetricsFamily MOVED = counter("sluice_tenant_moved_bytes_total", DIRECTION, "Bytes that left the GPU (out) and came back (back).");
    private static final MetricsFamily MOVING = counter("sluice_tenant_moved_seconds_total", DIRECTION, "Time spent moving memory, without waiting for the program.");

    @Override
    public List<MetricsFamily> families() {
        return List.of(PAUSED, AWAY, RESERVOIR, RELEASES, HELD, MOVED, MOVING);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        for (ScrapedTenant scraped : scrape.tenants()) {
            Tenant tenant = scraped.tenant();
            TenantPause pause = tenant.pause();
            Moved moved = tenant.processes().stream().map(TenantProcess::pause).map(process -> process.moved()).reduce(Moved.NONE, Moved::plus);
            Labels labels = scraped.labels();
            page.add(PAUSED, tenant.state().isPause() ? 1 : 0, labels);
            page.add(AWAY, pause.host().awayBytes(), labels);
            page.add(RESERVOIR, pause.host().reservoirBytes(), labels);
            page.add(RELEASES, moved.releases(), labels);
            page.add(HELD, moved.pausedNanos() / NANOS, labels);
            moved(page, "out", moved.outBytes(), moved.outNanos(), labels);
            moved(page, "back", moved.backBytes(), moved.backNanos(), labels);
        }
    }

    private static void moved(MetricsPage page, String direction, long bytes, long nanos, Labels labels) {
        page.add(MOVED, bytes, labels.add("direction", direction));
        page.add(MOVING, nanos / NANOS, labels.add("direction", direction));
    }
}
