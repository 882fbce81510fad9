package sluice.agent.metrics;

import static sluice.agent.metrics.MetricsFamily.counter;
import static sluice.agent.metrics.MetricsFamily.gauge;

import io.prometheus.metrics.model.snapshots.Labels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import sluice.agent.machine.MachineLook;

/// Metrics of the agent itself. The names with `process_` are those that every exporter has.
final class MetricsOfAgent implements MetricsSource {
    private static final double NANOS = 1e9;
    private static final int PAGE_BYTES = 4096;

    private static final MetricsFamily LOOKS = counter("sluice_agent_looks_total", List.of(), "Looks at the machine since the agent began.");
    private static final MetricsFamily LAST = gauge("sluice_agent_last_look_timestamp_seconds", List.of(), "Time of the last regular look at the machine, in seconds since 1970.");
    private static final MetricsFamily TENANTS = gauge("sluice_agent_tenants", List.of(), "Tenants that are exported.");
    private static final MetricsFamily LEFT_OUT = gauge("sluice_agent_tenants_left_out", List.of(), "Tenants that are not exported, because there are more than metrics-tenants.");
    private static final MetricsFamily NOT_SEEN = gauge("sluice_agent_tenants_not_seen", List.of(), "Files of tenants that a look leaves out, because their user has too many.");
    private static final MetricsFamily SCRAPES = counter("sluice_agent_scrapes_total", List.of(), "Scrapes answered before this one.");
    private static final MetricsFamily SCRAPE_TIME = counter("sluice_agent_scrape_seconds_total", List.of(), "Time that scrapes took before this one.");
    private static final MetricsFamily CPU = counter("process_cpu_seconds_total", List.of(), "CPU time of the agent.");
    private static final MetricsFamily RESIDENT = gauge("process_resident_memory_bytes", List.of(), "Memory of the agent.");
    private static final MetricsFamily FILES = gauge("process_open_fds", List.of(), "Files that the agent has open.");
    private static final MetricsFamily STARTED = gauge("process_start_time_seconds", List.of(), "Start of the agent, in seconds since 1970.");

    private final LongAdder scrapes = new LongAdder();
    private final LongAdder scrapeNanos = new LongAdder();
    private volatile IntSupplier notSeen = () -> 0;
    private volatile Instant lastLook = Instant.EPOCH;

    /// Receives every look of the clock.
    void see(MachineLook look) {
        lastLook = look.at();
    }

    /// Sets the source of the number of tenants that a look leaves out.
    void leftOut(IntSupplier tenantsNotSeen) {
        notSeen = tenantsNotSeen;
    }

    void scraped(long nanos) {
        scrapes.increment();
        scrapeNanos.add(nanos);
    }

    @Override
    public List<MetricsFamily> families() {
        return List.of(LOOKS, LAST, TENANTS, LEFT_OUT, NOT_SEEN, SCRAPES, SCRAPE_TIME, CPU, RESIDENT, FILES, STARTED);
    }

    @Override
    public void write(MetricsScrape scrape, MetricsPage page) {
        page.add(LOOKS, scrape.look().number(), Labels.EMPTY);
        page.add(LAST, lastLook.toEpochMilli() / 1e3, Labels.EMPTY);
        page.add(TENANTS, scrape.tenants().size(), Labels.EMPTY);
        page.add(LEFT_OUT, scrape.leftOut(), Labels.EMPTY);
        page.add(NOT_SEEN, notSeen.getAsInt(), Labels.EMPTY);
        page.add(SCRAPES, scrapes.sum(), Labels.EMPTY);
        page.add(SCRAPE_TIME, scrapeNanos.sum() / NANOS, Labels.EMPTY);
        ProcessHandle.Info self = ProcessHandle.current().info();
        page.add(CPU, self.totalCpuDuration().orElse(Duration.ZERO).toNanos() / NANOS, Labels.EMPTY);
        page.add(STARTED, self.startInstant().orElse(Instant.EPOCH).toEpochMilli() / 1e3, Labels.EMPTY);
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            page.add(FILES, files.count(), Labels.EMPTY);
            String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
            page.add(RESIDENT, Double.parseDouble(pages[1]) * PAGE_BYTES, Labels.EMPTY);
        } catch (IOException e) {
            // Then the page lacks this value.
        }
    }
}
