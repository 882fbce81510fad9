package sluice.agent.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The page of one scrape. Tenants can write their regions, so no value of them may break the page: of two values with the same labels
/// the first stays, and no counter is less than 0.
final class MetricsPage {
    private final Map<MetricsFamily, Map<Labels, Double>> values = new IdentityHashMap<>();

    void add(MetricsFamily family, double value, Labels labels) {
        values.computeIfAbsent(family, made -> new LinkedHashMap<>()).putIfAbsent(labels, value);
    }

    /// Labels `name, value, name, value...`. To Prometheus a label that is empty is one that is not there.
    static Labels labels(String... pairs) {
        List<String> full = new ArrayList<>();
        for (int at = 0; at < pairs.length; at += 2) {
            if (!pairs[at + 1].isEmpty()) {
                full.add(pairs[at]);
                full.add(pairs[at + 1]);
            }
        }
        return Labels.of(full.toArray(String[]::new));
    }

    MetricSnapshots snapshots() {
        return new MetricSnapshots(values.entrySet().stream().map(entry -> snapshot(entry.getKey(), entry.getValue())).toList());
    }

    private static MetricSnapshot snapshot(MetricsFamily family, Map<Labels, Double> points) {
        MetricMetadata metadata = new MetricMetadata(family.base(), family.help());
        return switch (family.kind()) {
            case GAUGE -> new GaugeSnapshot(metadata, points.entrySet().stream()
                    .map(point -> new GaugeDataPointSnapshot(point.getValue(), point.getKey(), null)).toList());
            case COUNTER -> new CounterSnapshot(metadata, points.entrySet().stream()
                    .map(point -> new CounterDataPointSnapshot(Math.max(0, point.getValue()), point.getKey(), null, 0)).toList());
            case UNTYPED -> new UnknownSnapshot(metadata, points.entrySet().stream()
                    .map(point -> new UnknownDataPointSnapshot(point.getValue(), point.getKey(), null)).toList());
        };
    }
}
