package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;
import static sluice.agent.metrics.MetricsFamily.untyped;

import io.prometheus.metrics.model.snapshots.Labels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.calls.CallKind;

/// The names of alnair-exporter. Its process is the one that a tenant began with; its tokens are as in `metrics.log`.
final class MetricsAlnair implements MetricsSource {
    private static final double PERMILLE_OF_PERCENT = 10;
    private static final double PERCENT = 100;
    private static final long MOST_TOKENS = 15_000_000;
    private static final long NO_CAP_TOKENS = 2_147_483_647L;
    private static final List<String> PROCESS = List.of("nodeName", "pid", "pod_name", "namespace");
    private static final List<String> ON_GPU = List.of("nodeName", "pid", "gpu_uuid", "gpu_idx", "pod_name");

    private static final MetricsFamily KERNELS = untyped("alnair_cuda_launch_kernel_cnt", PROCESS, "Kernels launched.");
    private static final MetricsFamily MEMORY = gauge("alnair_cuda_mem_used", PROCESS, "Bytes held, on all GPUs.");
    private static final MetricsFamily TOKENS = gauge("alnair_cuda_available_token", PROCESS,
            "GPU time in nanoseconds that the cap lets through at once, on the GPU that has least; 2147483647 without a cap.");
    private static final MetricsFamily BUSY = gauge("alnair_gpu_util", ON_GPU, "Percent of the GPU's time got in the last second or so.");
    private static final MetricsFamily MEMORY_PART = gauge("alnair_gpu_mem_util", ON_GPU, "Percent of the GPU's memory held.");
    private static final MetricsFamily GPU_MEMORY = gauge("alnair_gpu_mem_used", ON_GPU, "Bytes held.");
    private static final MetricsFamily HERTZ = counter("alnair_cpustat_time_user_hertz_total", List.of("nodeName", "cpu", "mode"), "Ticks in /proc/stat.");

    private final String node;

    MetricsAlnair(String node) {
        this.node = node;
    }

    @Override
    public List<MetricsFamily> families() {
        return List.of(KERNELS, MEMORY, TOKENS, BUSY, MEMORY_PART, GPU_MEMORY, HERTZ);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        scrape.tenants().stream().filter(scraped -> scraped.tenant().state().lives()).forEach(scraped -> tenant(page, scraped));
        try {
            Files.readAllLines(Path.of("/proc/stat")).stream().filter(line -> line.matches("cpu[0-9]+ .*")).forEach(line -> cpu(page, line.split(" ")));
        } catch (IOException e) {
            // Then the page lacks this value.
        }
    }

    private void tenant(MetricsPage page, ScrapedTenant scraped) {
        Tenant tenant = scraped.tenant();
        String pid = Long.toString(tenant.root().pid());
        MetricsPlace place = scraped.placeOrUser();
        Labels labels = Labels.of(PROCESS, List.of(node, pid, place.pod(), place.namespace()));
        scraped.calls().ifPresent(calls -> page.add(KERNELS, Math.max(0, calls.done(CallKind.KERNEL)), labels));
        page.add(MEMORY, tenant.gpus().stream().mapToDouble(TenantGpu::usedBytes).sum(), labels);
        page.add(TOKENS, tenant.gpus().stream().mapToLong(gpu -> tokens(gpu.time())).min().orElse(NO_CAP_TOKENS), labels);
        for (int at = 0; at < tenant.gpus().size(); at++) {
            TenantGpu gpu = tenant.gpus().get(at);
            int got = at < scraped.look().rates().size() ? scraped.look().rates().get(at).gotPermille() : Rates.NONE.gotPermille();
            Labels onGpu = Labels.of(ON_GPU, List.of(node, pid, gpu.uuid(), Integer.toString(gpu.index()), place.pod()));
            page.add(BUSY, Math.max(0, got) / PERMILLE_OF_PERCENT, onGpu);
            page.add(MEMORY_PART, gpu.totalBytes() <= 0 ? 0 : PERCENT * gpu.usedBytes() / gpu.totalBytes(), onGpu);
            page.add(GPU_MEMORY, gpu.usedBytes(), onGpu);
        }
    }

    private static long tokens(GpuTime time) {
        long left = (long) ((time.readNanos() - time.dueNanos()) / 1000.0 * time.capPermille());
        return time.capPermille() == 0 ? NO_CAP_TOKENS : Math.clamp(left, 0, MOST_TOKENS);
    }

    /// `cpu0 user nice system idle ...`
    private void cpu(MetricsPage page, String[] fields) {
        String number = fields[0].substring("cpu".length());
        page.add(HERTZ, Double.parseDouble(fields[1]), Labels.of("nodeName", node, "cpu", number, "mode", "user"));
        page.add(HERTZ, Double.parseDouble(fields[3]), Labels.of("nodeName", node, "cpu", number, "mode", "system"));
        page.add(HERTZ, Double.parseDouble(fields[4]), Labels.of("nodeName", node, "cpu", number, "mode", "idle"));
    }
}
