package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;
import static sluice.agent.metrics.MetricsOfTenants.plus;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.BoardLook;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.api.model.AuditFinding;

/// The GPUs, the tenants that take turns on them, and the findings of the audit.
final class MetricsOfGpus implements MetricsSource {
    private static final double PERCENT = 100;
    private static final List<String> GPU = List.of("gpu_uuid", "gpu");
    private static final List<String> BOARD = plus(GPU, "uid");
    private static final List<String> FINDING = plus(GPU, "kind");

    private static final MetricsFamily INFO = gauge("sluice_gpu_info", plus(GPU, "name"), "Always 1; the labels describe the GPU.");
    private static final MetricsFamily TOTAL = gauge("sluice_gpu_memory_total_bytes", GPU, "Memory of the GPU.");
    private static final MetricsFamily USED = gauge("sluice_gpu_memory_used_bytes", GPU, "Memory in use, by NVML; without NVML the memory of tenants.");
    private static final MetricsFamily TENANTS = gauge("sluice_gpu_memory_tenants_bytes", GPU, "Memory of the GPU that tenants hold, by their ledgers.");
    private static final MetricsFamily BUSY = gauge("sluice_gpu_utilization_ratio", GPU, "Part of the time in which a kernel ran, by NVML.");
    private static final MetricsFamily WARMTH = gauge("sluice_gpu_temperature_celsius", GPU, "Temperature, by NVML.");
    private static final MetricsFamily HEALTHY = gauge("sluice_gpu_healthy", GPU, "1; 0 while the GPU has a fault.");
    private static final MetricsFamily HAND_OVERS = counter("sluice_board_hand_overs_total", BOARD, "Turns given by their holders, on the board of a user's tenants.");
    private static final MetricsFamily SEIZED = counter("sluice_board_seized_total", BOARD, "Turns taken from holders that were idle or dead.");
    private static final MetricsFamily ON_BOARD = gauge("sluice_board_tenants", BOARD, "Tenants that take turns.");
    private static final MetricsFamily FINDINGS = gauge("sluice_audit_findings", FINDING,
            "Processes that are in no ledger (unknown) or hold more than their ledger says (over).");
    private static final MetricsFamily UNBOOKED = gauge("sluice_audit_unbooked_bytes", FINDING, "Memory of such processes beyond their ledgers.");

    @Override
    public List<MetricsFamily> families() {
        return List.of(INFO, TOTAL, USED, TENANTS, BUSY, WARMTH, HEALTHY, HAND_OVERS, SEIZED, ON_BOARD, FINDINGS, UNBOOKED);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        Map<String, String> numbers = new HashMap<>();
        for (GpuLook gpu : scrape.look().gpus()) {
            numbers.put(gpu.uuid(), Integer.toString(gpu.index()));
            gpu(page, scrape.look(), gpu, MetricsPage.labels("gpu_uuid", gpu.uuid(), "gpu", Integer.toString(gpu.index())));
        }
        for (BoardLook board : scrape.look().boards()) {
            Labels labels = MetricsPage.labels("gpu_uuid", board.state().uuid(), "gpu", numbers.getOrDefault(board.state().uuid(), ""),
                    "uid", Long.toString(board.uid()));
            page.add(HAND_OVERS, board.state().handOvers(), labels);
            page.add(SEIZED, board.state().seized(), labels);
            page.add(ON_BOARD, board.state().tenants().size(), labels);
        }
    }

    private static void gpu(MetricsPage page, MachineLook look, GpuLook gpu, Labels labels) {
        page.add(INFO, 1, labels.add("name", gpu.name()));
        page.add(TOTAL, gpu.totalBytes(), labels);
        page.add(USED, gpu.usedBytes(), labels);
        page.add(TENANTS, gpu.tenantsBytes(), labels);
        if (gpu.utilizationPercent() >= 0) {
            page.add(BUSY, gpu.utilizationPercent() / PERCENT, labels);
        }
        if (gpu.temperatureCelsius() >= 0) {
            page.add(WARMTH, gpu.temperatureCelsius(), labels);
        }
        page.add(HEALTHY, gpu.health().isEmpty() ? 1 : 0, labels);
        for (String kind : List.of(AuditFinding.UNKNOWN, AuditFinding.OVER)) {
            List<AuditFinding> found = look.findings().stream()
                    .filter(finding -> finding.kind().equals(kind) && finding.gpuUuid().equals(gpu.uuid())).toList();
            page.add(FINDINGS, found.size(), labels.add("kind", kind));
            page.add(UNBOOKED, found.stream().mapToDouble(finding -> Math.max(0, finding.usedBytes() - finding.ledgerBytes())).sum(),
                    labels.add("kind", kind));
        }
    }
}
