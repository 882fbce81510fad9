package sluice.agent.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.agent.part.PartMetric;

/// Metrics that the parts of the agent add.
final class MetricsOfParts implements MetricsSource {
    private final Map<PartMetric, MetricsFamily> families = new LinkedHashMap<>();

    MetricsOfParts(List<PartMetric> metrics) {
        metrics.forEach(metric -> families.put(metric, metric.isCounter()
                ? MetricsFamily.counter(metric.name(), List.of(), metric.help()) : MetricsFamily.gauge(metric.name(), List.of(), metric.help())));
    }

    @Override
    public List<MetricsFamily> families() {
        return List.copyOf(families.values());
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        families.forEach((metric, family) -> page.add(family, metric.value().getAsLong(), Labels.EMPTY));
    }
}
