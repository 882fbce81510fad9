package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.gauge;

import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.region.MemoryUses;
import sluice.region.TenantGpu;

/// The names of HAMi 2.10's vGPUmonitor, those of `--legacy-metrics` too, for dashboards that have them. What HAMi calls a ratio
/// is a percentage. A tenant without a pod appears as a pod with the tenant's name.
final class MetricsHami implements MetricsSource {
    private static final double PERMILLE_OF_PERCENT = 10;
    private static final List<String> HOST = List.of("device_index", "device_uuid", "device_type");
    private static final List<String> DEVICE = List.of("namespace", "pod", "container", "vdevice_index", "device_uuid");
    private static final List<String> OLD_HOST = List.of("nodeid", "deviceidx", "deviceuuid", "devicetype");
    private static final List<String> OLD_DEVICE = List.of("podnamespace", "podname", "ctrname", "vdeviceid", "deviceuuid");

    private static final MetricsFamily HOST_USED = gauge("hami_host_gpu_memory_used_bytes", HOST, "As sluice_gpu_memory_used_bytes.");
    private static final MetricsFamily HOST_BUSY = gauge("hami_host_gpu_utilization_ratio", HOST, "Percent, as sluice_gpu_utilization_ratio.");
    private static final MetricsFamily USED = gauge("hami_vgpu_memory_used_bytes", DEVICE, "As sluice_tenant_memory_used_bytes.");
    private static final MetricsFamily LIMIT = gauge("hami_vgpu_memory_limit_bytes", DEVICE, "The quota; the GPU's memory without one.");
    private static final MetricsFamily MEMORY = gauge("hami_container_device_memory_bytes", DEVICE, "As hami_vgpu_memory_used_bytes.");
    private static final MetricsFamily CONTEXT = gauge("hami_vgpu_memory_context_bytes", DEVICE, "Contexts, modules and what the driver takes by itself.");
    private static final MetricsFamily BUFFER = gauge("hami_vgpu_memory_buffer_bytes", DEVICE, "What the program allocated.");
    private static final MetricsFamily BUSY = gauge("hami_container_device_utilization_ratio", DEVICE, "Percent of the GPU's time got in the last second or so.");
    private static final MetricsFamily OLD_HOST_USED = gauge("HostGPUMemoryUsage", OLD_HOST, "As hami_host_gpu_memory_used_bytes.");
    private static final MetricsFamily OLD_HOST_BUSY = gauge("HostCoreUtilization", OLD_HOST, "As hami_host_gpu_utilization_ratio.");
    private static final MetricsFamily OLD_USED = gauge("vGPU_device_memory_usage_in_bytes", OLD_DEVICE, "As hami_vgpu_memory_used_bytes.");
    private static final MetricsFamily OLD_LIMIT = gauge("vGPU_device_memory_limit_in_bytes", OLD_DEVICE, "As hami_vgpu_memory_limit_bytes.");
    private static final MetricsFamily OLD_MEMORY = gauge("Device_memory_desc_of_container", OLD_DEVICE, "As hami_container_device_memory_bytes.");
    private static final MetricsFamily OLD_BUSY = gauge("Device_utilization_desc_of_container", OLD_DEVICE, "As hami_container_device_utilization_ratio.");

    private static final MetricsFamily LAST_KERNEL = gauge("hami_container_last_kernel_elapsed_seconds", DEVICE,
            "Since the last scrape that saw more kernels or graphs launched than the one before; of the tenant, on all GPUs.");
    private static final MetricsFamily OLD_LAST_KERNEL = gauge("Device_last_kernel_of_container", OLD_DEVICE, "As hami_container_last_kernel_elapsed_seconds.");
    private static final double MILLIS = 1e3;

    private final LastKernels lastKernels = new LastKernels(InstantSource.system());
    private final String node;

    MetricsHami(String node) {
        this.node = node;
    }

    @Override
    public List<MetricsFamily> families() {
        return List.of(HOST_USED, HOST_BUSY, USED, LIMIT, MEMORY, CONTEXT, BUFFER, BUSY, LAST_KERNEL,
                OLD_HOST_USED, OLD_HOST_BUSY, OLD_USED, OLD_LIMIT, OLD_MEMORY, OLD_BUSY, OLD_LAST_KERNEL);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        for (GpuLook gpu : scrape.look().gpus()) {
            Labels labels = labels(HOST, Integer.toString(gpu.index()), gpu.uuid(), "NVIDIA-" + gpu.name());
            Labels old = labels(OLD_HOST, node, Integer.toString(gpu.index()), gpu.uuid(), "NVIDIA-" + gpu.name());
            page.add(HOST_USED, gpu.usedBytes(), labels);
            page.add(OLD_HOST_USED, gpu.usedBytes(), old);
            if (gpu.utilizationPercent() >= 0) {
                page.add(HOST_BUSY, gpu.utilizationPercent(), labels);
                page.add(OLD_HOST_BUSY, gpu.utilizationPercent(), old);
            }
        }
        for (ScrapedTenant scraped : scrape.tenants()) {
            Optional<Duration> elapsed = scraped.calls().flatMap(calls -> lastKernels.elapsed(scraped.tenant(), calls));
            for (int at = 0; at < scraped.tenant().gpus().size() && scraped.tenant().state().lives(); at++) {
                device(page, scraped, at, elapsed);
            }
        }
    }

    private static Labels labels(List<String> names, String... values) {
        return Labels.of(names, List.of(values));
    }

    private static void device(MetricsPage page, ScrapedTenant scraped, int at, Optional<Duration> elapsed) {
        TenantGpu gpu = scraped.tenant().gpus().get(at);
        MetricsPlace place = scraped.placeOrUser();
        Labels labels = labels(DEVICE, place.namespace(), place.pod(), place.container(), Integer.toString(at), gpu.uuid());
        Labels old = labels(OLD_DEVICE, place.namespace(), place.pod(), place.container(), Integer.toString(at), gpu.uuid());
        MemoryUses uses = gpu.uses();
        long limit = gpu.limitBytes() == 0 ? gpu.totalBytes() : gpu.limitBytes();
        page.add(USED, gpu.usedBytes(), labels);
        page.add(OLD_USED, gpu.usedBytes(), old);
        page.add(LIMIT, limit, labels);
        page.add(OLD_LIMIT, limit, old);
        page.add(MEMORY, gpu.usedBytes(), labels);
        page.add(OLD_MEMORY, gpu.usedBytes(), old);
        page.add(CONTEXT, uses.contextBytes() + uses.overheadBytes(), labels);
        page.add(BUFFER, uses.totalBytes() - uses.contextBytes() - uses.overheadBytes(), labels);
        int got = at < scraped.look().rates().size() ? scraped.look().rates().get(at).gotPermille() : -1;
        page.add(BUSY, Math.max(0, got) / PERMILLE_OF_PERCENT, labels);
        page.add(OLD_BUSY, Math.max(0, got) / PERMILLE_OF_PERCENT, old);
        elapsed.ifPresent(time -> {
            page.add(LAST_KERNEL, time.toMillis() / MILLIS, labels);
            page.add(OLD_LAST_KERNEL, time.toMillis() / MILLIS, old);
        });
    }
}
