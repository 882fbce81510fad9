package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.GpuLook;

class MetricsOfGpusTest {
    private static OptionalDouble value(String name, GpuLook gpu) {
        var look = new MachineLook(1, Instant.EPOCH, 0, List.of(gpu), List.of(), List.of(), List.of(), List.of());
        var page = new MetricsPage();
        new MetricsOfGpus().write(new MetricsScrape(look, List.of(), 0), page);
        return page.snapshots().stream().filter(family -> family.getMetadata().getName().equals(name))
                .flatMapToDouble(family -> ((GaugeSnapshot) family).getDataPoints().stream().mapToDouble(point -> point.getValue())).findFirst();
    }

    private static GpuLook gpu(int utilizationPercent, int temperatureCelsius) {
        return new GpuLook(0, "GPU-1", "H200", 1000, 500, 250, utilizationPercent, temperatureCelsius, List.of());
    }

    @Test
    void shouldTellRatiosAsPartsOfOne() {
        assertThat(value("sluice_gpu_utilization_ratio", gpu(42, 60))).hasValue(0.42);
        assertThat(value("sluice_gpu_temperature_celsius", gpu(42, 60))).hasValue(60);
        assertThat(value("sluice_gpu_memory_used_bytes", gpu(42, 60))).hasValue(500);
    }

    @Test
    void shouldLeaveOutWhatWasNotMeasured() {
        assertThat(value("sluice_gpu_utilization_ratio", gpu(-1, -1))).isEmpty();
        assertThat(value("sluice_gpu_temperature_celsius", gpu(-1, -1))).isEmpty();
    }
}
