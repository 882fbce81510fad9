package sluice.trace.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;
import sluice.trace.report.output.ReportHtml;
import sluice.trace.report.output.ReportJson;
import sluice.trace.report.output.ReportText;

/// Eight threads that launch kernels of 200 µs, and what the report makes of what the library knows of them.
class ReportKernelsTest {
    private static final int THREADS = 8;
    private static final long LAUNCHES = 50;
    private static final long MICRO = 1000;
    private static final TraceEvent.Measured EXACTLY = new TraceEvent.Measured(true, 1, 10);
    private static final TraceEvent.Measured AT_MOST = new TraceEvent.Measured(false, 1000, 0);

    private final List<TraceEvent> events = new ArrayList<>();

    private ReportData report(long busyNanos, long streams) {
        for (int thread = 0; thread < THREADS; thread++) {
            for (int launch = 0; launch < LAUNCHES; launch++) {
                events.add(new TraceEvent.Kernel(launch, launch + 1, 1, thread, 0, "cuLaunchKernel", 0, 0x100 + thread % streams, "gemm",
                        new TraceEvent.Extent(8, 1, 1), new TraceEvent.Extent(32, 1, 1), 0));
            }
        }
        events.add(new TraceEvent.Batch(0, busyNanos, 1, 1, 0, THREADS * LAUNCHES, busyNanos, 100));
        TraceInfo info = new TraceInfo("job", List.of(), List.of(), List.of(), events.size(), 0, 0, busyNanos, new TraceInfo.Anchor(0, 0));
        ReportBuilder builder = new ReportBuilder(info);
        events.forEach(builder);
        return builder.finish();
    }

    private void costs(long nanos, TraceEvent.Measured measured, long launches) {
        for (int thread = 0; thread < THREADS; thread++) {
            events.add(new TraceEvent.Cost(1, 1, 1, thread, 0, "gemm", 8, 32, nanos, launches, measured));
        }
    }

    @Test
    void shouldUseMeasurementsOfSingleLaunches() {
        costs(1600 * MICRO, AT_MOST, 10);
        costs(200 * MICRO, EXACTLY, LAUNCHES - 10);
        ReportData data = report(THREADS * LAUNCHES * 200 * MICRO, THREADS);
        ReportData.Kernel kernel = data.kernels().getFirst();
        assertThat(kernel.perLaunch()).isEqualTo(200 * MICRO);
        assertThat(kernel.gpuNanos()).isEqualTo(data.gpus().getFirst().busyNanos());
        assertThat(kernel.estimated()).isFalse();
        assertThat(ReportText.of(data)).contains("200 µs").doesNotContain("≈", "side by side");
    }

    @Test
    void shouldNotLetBoundsExceedTheBusyTime() {
        costs(1600 * MICRO, AT_MOST, LAUNCHES);
        ReportData data = report(THREADS * LAUNCHES * 200 * MICRO, THREADS);
        ReportData.Kernel kernel = data.kernels().getFirst();
        assertThat(kernel.gpuNanos()).isLessThanOrEqualTo(data.gpus().getFirst().busyNanos());
        assertThat(kernel.perLaunch()).isBetween(199 * MICRO, 200 * MICRO);
        assertThat(kernel.mostNanos()).isEqualTo(1600 * MICRO);
        assertThat(kernel.estimated()).isTrue();
        assertThat(ReportText.of(data)).contains("≈ 200 µs", "0 ns – 1.60 ms", "≈ is an estimate").doesNotContain("side by side");
        assertThat(ReportHtml.of(data)).contains("≈ 200 µs", "≈ is an estimate");
        assertThat(ReportJson.of(data)).contains("\"estimate\": true", "\"most_nanos_per_launch\": 1600000", "\"least_nanos_per_launch\": 0");
    }

    @Test
    void shouldSayThatKernelsRanSideBySide() {
        costs(200 * MICRO, EXACTLY, LAUNCHES);
        ReportData data = report(LAUNCHES * 200 * MICRO, THREADS);
        assertThat(data.kernels().getFirst().perLaunch()).isEqualTo(200 * MICRO);
        assertThat(ReportText.of(data)).contains("kernels side by side", "8.00 times what it was busy");
        assertThat(ReportJson.of(data)).contains("\"kernels_side_by_side\": true");
    }

    @Test
    void shouldNotBelieveThatOneStreamDoesTwoThingsAtOnce() {
        costs(200 * MICRO, EXACTLY, LAUNCHES);
        ReportData data = report(LAUNCHES * 200 * MICRO, 1);
        assertThat(data.kernels().getFirst().gpuNanos()).isLessThanOrEqualTo(data.gpus().getFirst().busyNanos());
        assertThat(data.kernels().getFirst().estimated()).isTrue();
        assertThat(ReportText.of(data)).doesNotContain("side by side");
    }
}
