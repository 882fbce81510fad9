package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;

/// The memory and the activity of a tenant on each of its GPUs.
final class MetricsOfTenants implements MetricsSource {
    private static final double NANOS = 1e9;
    private static final double PERMILLE = 1000;
    static final List<String> TENANT = Stream.concat(Stream.of("tenant", "uid"), MetricsPlace.LABELS.stream()).toList();
    private static final List<String> GPU = Stream.concat(Stream.of("gpu_uuid", "gpu"), TENANT.stream()).toList();
    private static final List<String> GPU_USE = plus(GPU, "use");
    private static final List<String> GPU_REASON = plus(GPU, "reason");

    private static final MetricsFamily USED = gauge("sluice_tenant_memory_used_bytes", GPU, "Memory that the tenant holds.");
    private static final MetricsFamily LIMIT = gauge("sluice_tenant_memory_limit_bytes", GPU, "Memory quota of the tenant; left out without a quota.");
    private static final MetricsFamily PEAK = gauge("sluice_tenant_memory_peak_bytes", GPU, "The most memory that the tenant has held.");
    private static final MetricsFamily USE = gauge("sluice_tenant_memory_use_bytes", GPU_USE, "Memory of the tenant by use; uses without memory are left out.");
    private static final MetricsFamily REFUSED = counter("sluice_tenant_memory_refused_total", GPU, "Allocations refused because of the quota.");
    private static final MetricsFamily TIME = counter("sluice_tenant_gpu_time_seconds_total", GPU, "GPU time that work of the tenant took.");
    private static final MetricsFamily WAITED = counter("sluice_tenant_gpu_wait_seconds_total", GPU_REASON,
            "How long calls waited, all threads together: for the cap, for a turn, for room in the queue, for memory.");
    private static final MetricsFamily WAITS = counter("sluice_tenant_gpu_waits_total", GPU_REASON, "How often calls waited.");
    private static final MetricsFamily GOT = gauge("sluice_tenant_gpu_share_got_ratio", GPU, "Part of the GPU's time that the tenant got in the last second or so.");
    private static final MetricsFamily ASKED = gauge("sluice_tenant_gpu_share_asked_ratio", GPU,
            "Part that the tenant may have when all want the GPU: its cap, or the part by its weight if that is less; left out without limits.");
    private static final MetricsFamily SUBMITTED = counter("sluice_tenant_gpu_submitted_total", GPU, "Calls that put work on the GPU.");
    private static final MetricsFamily UNMETERED = counter("sluice_tenant_gpu_unmetered_total", GPU, "Calls that put work on the GPU whose time could not be measured.");
    private static final MetricsFamily TURNS = counter("sluice_tenant_turns_total", GPU, "Turns that the tenant was given.");
    private static final MetricsFamily HELD = counter("sluice_tenant_turn_held_seconds_total", GPU, "Time in which the tenant had the turn.");
    private static final MetricsFamily WAITING = gauge("sluice_tenant_turn_waiting_seconds", GPU, "How long the tenant has been waiting for its turn.");

    @Override
    public List<MetricsFamily> families() {
        return List.of(USED, LIMIT, PEAK, USE, REFUSED, TIME, WAITED, WAITS, GOT, ASKED, SUBMITTED, UNMETERED, TURNS, HELD, WAITING);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        for (ScrapedTenant scraped : scrape.tenants()) {
            Map<TenantGpu, Rates> rates = new HashMap<>();
            for (int at = 0; at < scraped.look().rates().size(); at++) {
                rates.put(scraped.tenant().gpus().get(at), scraped.look().rates().get(at));
            }
            for (TenantGpu gpu : scraped.tenant().gpus()) {
                Labels labels = labels(scraped, gpu);
                memory(page, scraped.tenant(), gpu, labels);
                time(page, gpu.time(), labels);
                int got = rates.getOrDefault(gpu, Rates.NONE).gotPermille();
                if (got >= 0 && scraped.tenant().state().lives()) {
                    page.add(GOT, got / PERMILLE, labels);
                }
                turns(page, scraped.tenant(), gpu.time(), scrape.board(scraped.tenant(), gpu), labels);
            }
        }
    }

    private static void memory(MetricsPage page, Tenant tenant, TenantGpu gpu, Labels labels) {
        page.add(USED, tenant.state().lives() ? gpu.usedBytes() : 0, labels);
        if (gpu.limitBytes() != 0) {
            page.add(LIMIT, gpu.limitBytes(), labels);
        }
        page.add(PEAK, gpu.peakBytes(), labels);
        gpu.uses().byName().forEach((use, bytes) -> {
            if (bytes != 0) {
                page.add(USE, bytes, labels.add("use", use));
            }
        });
        page.add(REFUSED, gpu.refusedCalls(), labels);
    }

    private static void time(MetricsPage page, GpuTime time, Labels labels) {
        page.add(TIME, time.usedNanos() / NANOS, labels);
        wait(page, "cap", time.capWaits(), time.capWaitedNanos(), labels);
        wait(page, "turn", time.turnWaits(), time.turnWaitedNanos(), labels);
        wait(page, "room", time.roomWaits(), time.roomWaitedNanos(), labels);
        wait(page, "memory", time.memoryWaits(), time.memoryWaitedNanos(), labels);
        page.add(SUBMITTED, time.submittedCalls(), labels);
        page.add(UNMETERED, time.unmeteredCalls(), labels);
    }

    private static void wait(MetricsPage page, String reason, long waits, long nanos, Labels labels) {
        Labels withReason = labels.add("reason", reason);
        page.add(WAITED, nanos / NANOS, withReason);
        page.add(WAITS, waits, withReason);
    }

    private static void turns(MetricsPage page, Tenant tenant, GpuTime time, Optional<BoardState> board, Labels labels) {
        double cap = time.capPermille() == 0 ? 1 : time.capPermille() / PERMILLE;
        if (board.isPresent()) {
            BoardTenant entry = board.get().tenant(tenant.createdNanos()).orElseThrow();
            double weights = board.get().tenants().stream().mapToLong(other -> Math.max(1, other.weight())).sum();
            page.add(ASKED, Math.min(cap, Math.max(1, entry.weight()) / weights), labels);
            page.add(TURNS, entry.turns(), labels);
            page.add(HELD, entry.heldNanos() / NANOS, labels);
            page.add(WAITING, entry.waitingNanos() / NANOS, labels);
        } else if (tenant.compute().takesPart()) {
            page.add(ASKED, cap, labels);
        }
    }

    private static Labels labels(ScrapedTenant scraped, TenantGpu gpu) {
        return MetricsPage.labels("gpu_uuid", gpu.uuid(), "gpu", Integer.toString(gpu.index())).merge(scraped.labels());
    }

    static List<String> plus(List<String> labels, String... more) {
        return Stream.concat(labels.stream(), Stream.of(more)).toList();
    }
}
