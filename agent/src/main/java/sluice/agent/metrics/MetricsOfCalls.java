package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;
import static sluice.agent.metrics.MetricsOfTenants.plus;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;

/// The calls of a tenant on all GPUs, and the tenant itself. Calls are counted by kind, because there are hundreds of functions.
final class MetricsOfCalls implements MetricsSource {
    private static final double NANOS = 1e9;
    private static final List<String> TENANT = MetricsOfTenants.TENANT;
    private static final List<String> KIND = plus(TENANT, "kind");

    private static final MetricsFamily INFO = gauge("sluice_tenant_info", plus(TENANT, "weight", "priority", "exclusive", "on_error", "on_oom"),
            "Always 1; the labels are the tenant's limits.");
    private static final MetricsFamily RUNNING = gauge("sluice_tenant_running", TENANT, "1 while the tenant runs; 0 for a while after its end.");
    private static final MetricsFamily STARTED = gauge("sluice_tenant_start_time_seconds", TENANT, "Start of the tenant, in seconds since 1970.");
    private static final MetricsFamily PROCESSES = gauge("sluice_tenant_processes", TENANT, "Live processes of the tenant.");
    private static final MetricsFamily CALLS = counter("sluice_tenant_calls_total", KIND, "CUDA calls that returned; kinds without calls are left out.");
    private static final MetricsFamily FAILED = counter("sluice_tenant_call_errors_total", TENANT, "CUDA calls that returned an error.");
    private static final MetricsFamily TIME = counter("sluice_tenant_call_seconds_total", KIND,
            "Time of CUDA calls on the host, waits included, all threads together.");
    private static final MetricsFamily COPIED = counter("sluice_tenant_copied_bytes_total", plus(TENANT, "direction"), "Bytes that calls copied.");
    private static final MetricsFamily ERRORS = counter("sluice_tenant_library_errors_total", TENANT, "Entries in the library's error log.");

    @Override
    public List<MetricsFamily> families() {
        return List.of(INFO, RUNNING, STARTED, PROCESSES, CALLS, FAILED, TIME, COPIED, ERRORS);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        for (ScrapedTenant scraped : scrape.tenants()) {
            Tenant tenant = scraped.tenant();
            Labels labels = scraped.labels();
            page.add(INFO, 1, labels.merge(Labels.of("weight", Integer.toString(tenant.compute().weight()),
                    "priority", tenant.compute().priority().word(), "exclusive", Boolean.toString(tenant.compute().exclusive()),
                    "on_error", tenant.limits().onError().word(), "on_oom", tenant.limits().onOom().waits() ? "wait" : "fail")));
            page.add(RUNNING, tenant.state().lives() ? 1 : 0, labels);
            page.add(STARTED, tenant.createdNanos() / NANOS, labels);
            page.add(PROCESSES, tenant.liveProcesses().size(), labels);
            page.add(ERRORS, tenant.errors().stream().mapToDouble(TenantError::count).sum(), labels);
            scraped.calls().ifPresent(calls -> calls(page, calls, labels));
        }
    }

    private static void calls(MetricsPage page, TenantCalls calls, Labels labels) {
        for (CallKind kind : CallKind.values()) {
            List<CallCount> counts = calls.counts().stream().filter(count -> count.kind() == kind).toList();
            if (!counts.isEmpty()) {
                Labels ofKind = labels.add("kind", kind.name().toLowerCase(Locale.ROOT));
                page.add(CALLS, counts.stream().mapToDouble(CallCount::calls).sum(), ofKind);
                page.add(TIME, counts.stream().mapToDouble(CallCount::nanos).sum() / NANOS, ofKind);
            }
        }
        page.add(FAILED, calls.counts().stream().mapToDouble(CallCount::failed).sum(), labels);
        Traffic traffic = calls.traffic();
        page.add(COPIED, traffic.toGpuBytes(), labels.add("direction", "to_gpu"));
        page.add(COPIED, traffic.fromGpuBytes(), labels.add("direction", "from_gpu"));
        page.add(COPIED, traffic.onGpuBytes(), labels.add("direction", "on_gpu"));
        page.add(COPIED, traffic.betweenGpusBytes(), labels.add("direction", "between_gpus"));
        page.add(COPIED, traffic.hostBytes(), labels.add("direction", "host"));
        page.add(COPIED, traffic.otherBytes(), labels.add("direction", "other"));
    }
}
