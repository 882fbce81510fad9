package sluice.agent.metrics;

import java.util.List;

/// Puts values of its families on the page of a scrape.
interface MetricsSource {
    List<MetricsFamily> families();

    void write(MetricsScrape scrape, MetricsPage page);
}
