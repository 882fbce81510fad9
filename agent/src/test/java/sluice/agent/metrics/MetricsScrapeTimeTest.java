package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;

/// How long a scrape of a full machine takes. The bound is wide: machines that build are busy. docs/metrics.md has the figure.
@Timeout(120)
class MetricsScrapeTimeTest {
    private static final int TENANTS = 64;
    private static final int SCRAPES = 100;

    @TempDir
    private Path folder;

    @Test
    void shouldScrape64TenantsInTime() throws Exception {
        try (RunningAgent agent = new RunningAgent(folder, List.of(new Metrics()), "requests-per-second = 1000")) {
            Path[] files = new Path[TENANTS];
            for (int at = 0; at < TENANTS; at++) {
                files[at] = MetricsTenants.busy(agent.directory(), "tenant-" + at, 1);
            }
            MetricsTenants.onBoard(agent.directory(), Arrays.copyOf(files, 32));
            long[] nanos = new long[SCRAPES];
            int bytes = 0;
            Duration before = Duration.ZERO;
            for (int at = 0; at < SCRAPES; at++) {
                before = at == SCRAPES / 2 ? ProcessHandle.current().info().totalCpuDuration().orElseThrow() : before;
                Thread.sleep(60);
                long began = System.nanoTime();
                bytes = agent.client().get("/metrics").body().length;
                nanos[at] = System.nanoTime() - began;
            }
            Duration cpu = ProcessHandle.current().info().totalCpuDuration().orElseThrow().minus(before);
            long[] warm = Arrays.copyOfRange(nanos, SCRAPES / 2, SCRAPES);
            Arrays.sort(warm);
            System.out.printf("scrape of %d tenants: first %.1f ms, then least %.1f ms, median %.1f ms, most %.1f ms, CPU of the whole process %.1f ms; %d bytes%n",
                    TENANTS, nanos[0] / 1e6, warm[0] / 1e6, warm[warm.length / 2] / 1e6, warm[warm.length - 1] / 1e6,
                    cpu.toNanos() / 1e6 / warm.length, bytes);
            assertThat(warm[warm.length / 2]).isLessThan(100_000_000);
        }
    }
}
