package sluice.trace.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.trace.read.RingFixture;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceFolder;
import sluice.trace.report.output.ReportHtml;

class ReportSpeedTest {
    private static final int EVENTS = 1_000_000;

    @TempDir
    private Path folder;

    /// A trace of a job that does nothing but launch, with a batch for every hundred launches and some waits.
    private void record() throws IOException {
        RingFixture ring = new RingFixture(folder, 7, 7).wrapped(1 << 20, 0);
        RingFixture.process(folder, 7, "command=busy", "tenant=busy", "gpu.0=GPU-1 Simulated GPU");
        RingFixture.entries(folder, "cuLaunchKernel", "cuMemcpyHtoD_v2");
        for (int name = 1; name <= 50; name++) {
            RingFixture.name(folder, 7, name, "_ZN4work6kernel" + (name < 10 ? "2k" : "3k") + name + "E");
        }
        ring.clock(0);
        for (long i = 1; i < EVENTS; i++) {
            long at = i * 12_000;
            if (i % 1000 == 0) {
                ring.clock(at);
            } else if (i % 100 == 0) {
                ring.batch(at - 1_100_000, at - 200_000, 100, 400_000);
            } else if (i % 77 == 0) {
                ring.wait(at, at + 6_000, TraceEvent.Reason.CAP);
            } else if (i % 7 == 0) {
                ring.call(2, 0, at, at + 10_000, 0, 4096, TraceEvent.Direction.TO_GPU);
            } else {
                ring.kernel(1, at, at + 7_000, 1, 1 + i % 50);
            }
        }
        ring.write();
    }

    /// The fastest of a few: the machine may have other things to do.
    @Test
    void shouldReportAMillionEventsInTenSeconds() throws IOException {
        record();
        Duration fastest = Duration.ofDays(1);
        for (int attempt = 0; attempt < 3 && fastest.compareTo(Duration.ofSeconds(10)) >= 0; attempt++) {
            long begin = System.nanoTime();
            report();
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            fastest = took.compareTo(fastest) < 0 ? took : fastest;
        }
        System.out.println("a report of " + EVENTS + " events took " + fastest.toMillis() + " ms");
        assertThat(fastest).isLessThan(Duration.ofSeconds(10));
    }

    private void report() {
        long[] told = new long[1];
        ReportData data;
        try (TraceFolder trace = TraceFolder.open(folder)) {
            data = ReportBuilder.of(trace, (done, all) -> told[0]++);
        }
        assertThat(ReportHtml.of(data)).contains("work::kernel::k1");
        assertThat(data.events()).isEqualTo(EVENTS - EVENTS / 1000);
        assertThat(told[0]).as("steps of the progress bar").isGreaterThan(10);
    }
}
