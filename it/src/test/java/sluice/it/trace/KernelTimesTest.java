package sluice.it.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceProgress;
import sluice.trace.report.ReportBuilder;
import sluice.trace.report.ReportData;

/// What the report says that kernels take, when the GPU does them for many threads or tenants. The simulated GPU does one at a time, so it
/// knows what each takes. Nothing here depends on how fast the machine is: a time is right, or its bounds are.
class KernelTimesTest extends OnMachine {
    private String[] beside(Path folder, String name, int threads, int kernels, long nanos, int ahead, String... options) throws Exception {
        String[] before = {"run", "--sim", "--name", name, "--trace", folder.toString()};
        String[] program = {"--", Machine.program("beside"), machine.kernels(), Integer.toString(threads), Integer.toString(kernels), Long.toString(nanos),
            Integer.toString(ahead)};
        return java.util.stream.Stream.of(before, options, program).flatMap(java.util.Arrays::stream).toArray(String[]::new);
    }

    private static void assertTrue(Path folder, long launches, long nanos) {
        try (TraceFolder trace = TraceFolder.open(folder)) {
            ReportData data = ReportBuilder.of(trace, TraceProgress.NONE);
            assertThat(data.damage()).isEmpty();
            ReportData.Kernel kernel = data.kernels().getFirst();
            assertThat(kernel.launches()).isEqualTo(launches);
            if (kernel.estimated()) {
                assertThat(kernel.leastNanos()).isLessThan(nanos + nanos / 20);
                assertThat(kernel.mostNanos()).isGreaterThan(nanos - nanos / 20);
            } else {
                assertThat(kernel.perLaunch()).isCloseTo(nanos, Percentage.withPercentage(5));
            }
            ReportData.Gpu gpu = data.gpus().getFirst();
            assertThat(kernel.gpuNanos() <= gpu.busyNanos() || gpu.besideEachOther()).as(kernel + " of " + gpu.busyNanos()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 200, 10", "8, 50, 1", "8, 50, 10", "8, 100, 4"})
    void shouldTellWhatKernelsOfManyThreadsTake(int threads, int kernels, int ahead) throws Exception {
        Path folder = directory.resolve("trace");
        Machine.Outcome outcome = machine.sluice(beside(folder, "job", threads, kernels, 200_000, ahead));
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertTrue(folder, (long) threads * kernels, 200_000);
    }

    @Test
    void shouldTellWhatKernelsOfTwoTenantsTake() throws Exception {
        Process first = machine.startSluice(beside(directory.resolve("first"), "first", 1, 200, 500_000, 4, "--compute", "50%"));
        Process second = machine.startSluice(beside(directory.resolve("second"), "second", 1, 200, 500_000, 4, "--compute", "50%"));
        assertThat(Machine.await(first).status()).isZero();
        assertThat(Machine.await(second).status()).isZero();
        assertTrue(directory.resolve("first"), 200, 500_000);
        assertTrue(directory.resolve("second"), 200, 500_000);
    }

    private long submitted() {
        return Tenant.read(machine.runtimeDirectory().resolve("job.region")).gpus().stream().map(TenantGpu::time).mapToLong(time -> time.submittedCalls()).sum();
    }

    /// Threads, streams and contexts that end, graphs, more threads than have a place of their own: each call counts once.
    @ParameterizedTest
    @CsvSource({"plain, 120", "graph, 120", "threads, 120", "ended-threads, 2400", "ended-contexts, 1200"})
    void shouldCountWhatWasSubmitted(String way, long calls) throws Exception {
        machine.preloaded(Map.of("SLUICE_COMPUTE", "90%", "SLUICE_TENANT", "job"), Machine.program("gated"), machine.kernels(), way);
        assertThat(submitted()).isEqualTo(calls);
    }

    @ParameterizedTest
    @CsvSource({"8, 1000, 100", "8, 500, 1", "20, 200, 10"})
    void shouldCountWhatManyThreadsSubmit(int threads, int kernels, int ahead) throws Exception {
        machine.preloaded(Map.of("SLUICE_COMPUTE", "90%", "SLUICE_TENANT", "job"), Machine.program("beside"), machine.kernels(), Integer.toString(threads),
                Integer.toString(kernels), "2000", Integer.toString(ahead));
        assertThat(submitted()).isEqualTo((long) threads * kernels);
    }

    @Test
    void shouldNotCountWhatTheDriverRefused() throws Exception {
        machine.preloaded(Map.of("SLUICE_COMPUTE", "90%", "SLUICE_TENANT", "job", "SLUICE_SIM_FAULTS", "cuLaunchKernel@51=1"), Machine.program("beside"),
                machine.kernels(), "1", "100", "2000", "100");
        assertThat(submitted()).isEqualTo(50);
    }
}
