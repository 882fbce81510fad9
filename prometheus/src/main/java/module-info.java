/// Prometheus' own classes: what a scrape says, and the formats in which it is written. Nothing here is Sluice's.
module sluice.prometheus {
    exports io.prometheus.metrics.config;
    exports io.prometheus.metrics.expositionformats;
    exports io.prometheus.metrics.model.snapshots;
}
