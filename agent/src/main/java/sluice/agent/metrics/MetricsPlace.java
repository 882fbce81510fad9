package sluice.agent.metrics;

/// Where a tenant runs in a cluster; empty words for one that does not.
public record MetricsPlace(String namespace, String pod, String container) {
    public static final MetricsPlace NONE = new MetricsPlace("", "", "");
}
