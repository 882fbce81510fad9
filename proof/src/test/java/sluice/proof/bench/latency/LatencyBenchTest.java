package sluice.proof.bench.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import sluice.proof.bench.compute.ComputeBench;
import sluice.proof.bench.compute.Witnesses;
import sluice.proof.facts.CheckFailed;
import sluice.proof.stage.Environment;

class LatencyBenchTest {
    /// Without MPS, wherever this test runs.
    private final Environment simulated = new Environment(Path.of("/no/library.so"), Optional.of(Path.of("/no/driver")));

    private List<String> plan(int rounds, String... only) {
        List<String> rows = List.of(only).stream().map(word -> LatencyBench.WORD + "/" + word).toList();
        return ComputeBench.plan(simulated, LatencyBench.tables(), new ComputeBench.Options(rows, 2, rounds, 1000, Set.of(), Path.of("sluice")));
    }

    @Test
    void shouldMeasureEachPlaceBesideTheSameTenantsWithoutBursts() {
        assertThat(plan(3, "100us/50 ms/2 tenants")).containsExactly(
                "latency: 10 × 100 µs alone, 3 × 2.0 s",
                "latency: no bursts, 2 tenants with kernels of 50 ms, no library, 3 × 2.0 s",
                "latency: 10 × 100 µs beside 2 tenants with kernels of 50 ms, no library, 3 × 2.0 s",
                "latency: no bursts, 2 tenants with kernels of 50 ms, priorities without slices, 3 × 2.0 s",
                "latency: 10 × 100 µs beside 2 tenants with kernels of 50 ms, priorities without slices, 3 × 2.0 s",
                "latency: no bursts, 2 tenants with kernels of 50 ms, priorities with slices, 3 × 2.0 s",
                "latency: 10 × 100 µs beside 2 tenants with kernels of 50 ms, priorities with slices, 3 × 2.0 s",
                "about 67 s in all");
    }

    @Test
    void shouldMeasureTheTenantsOnceForBothKindsOfBursts() {
        assertThat(plan(1)).hasSize(2 + 36 + 72 + 1);
    }

    @Test
    void shouldKnowItsRows() {
        assertThat(LatencyBench.hasRow("1 tenant/50 ms/with slices")).isTrue();
        assertThat(LatencyBench.hasRow("100us")).isTrue();
        assertThat(LatencyBench.hasRow("4 tenants/graphs/MPS")).isTrue();
        assertThat(LatencyBench.hasRow("3 tenants")).isFalse();
    }

    @Test
    void shouldLeaveOutTheFirstBursts() {
        List<Long> responses = LongStream.rangeClosed(1, 150).boxed().toList();
        assertThat(Latency.of(responses)).isEqualTo(new Latency(101, 141, 150, 150));
        assertThat(Latency.of(List.of(9L, 1L)).most()).isEqualTo(1);
        assertThatThrownBy(() -> Latency.of(List.of())).isInstanceOf(CheckFailed.class);
    }

    /// Kernels of 10 ms one after the other, seen from the middle of the first to the middle of the last.
    @Test
    void shouldCountPartsOfKernels() {
        var witness = Witnesses.of(new long[] {0, 10_000_000, 20_000_000}, new long[] {10_000_000, 20_000_000, 30_000_000});
        assertThat(Latency.speed(List.of(witness), 5_000_000, 25_000_000)).isCloseTo(100, within(1e-9));
        assertThat(Latency.speed(List.of(witness, witness), 5_000_000, 25_000_000)).isCloseTo(200, within(1e-9));
        assertThat(Latency.kernelNanos(witness)).isEqualTo(10_000_000);
    }
}
