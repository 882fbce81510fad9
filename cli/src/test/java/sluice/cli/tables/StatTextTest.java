package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.json.StatJson;
import sluice.cli.output.Json;
import sluice.cli.output.JsonValues;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;

class StatTextTest {
    private static final long SECOND = 1_000_000_000;

    private static TenantCalls calls(long readNanos, long launches) {
        return new TenantCalls(true, readNanos, List.of(
                new CallCount("cuInit", CallKind.OTHER, 1, 0, 1, 301_000_000, 301_000_000, 0),
                new CallCount("cuLaunchKernel", CallKind.KERNEL, launches, 2, launches / 16, launches * 4100, 1_250_000, 0),
                new CallCount("cuMemAlloc_v2", CallKind.ALLOCATION, 12, 1, 12, 120_000, 45_600, 3L << 30),
                new CallCount("cuMemcpyHtoDAsync_v2", CallKind.COPY, 7, 0, 7, 70_000, 20_000, 1L << 20)),
                new Traffic(1L << 20, 0, 5L << 20, 0, 0, 0));
    }

    @Test
    void shouldShowWhatATenantDid() {
        assertThat(String.join("\n", StatText.lines(MadeUp.training(), calls(SECOND, 100_000), null, 0, MadeUp.PLAIN))).isEqualTo("""
                tenant    train, running
                command   python train.py --epochs 3
                calls     100020 of 4 functions in 711 ms, 3 failed
                work      99998 kernels, 0 graphs
                copied    1.0 MiB to the GPU, 5.0 MiB on it
                memory    11 calls that take some, for 3.0 GiB; 0 that give some back

                GPU     MEMORY    LIMIT       PEAK  REFUSED    BUSY    GOT  NAME
                  0    3.8 GiB  4.0 GiB    3.9 GiB       12  17.0 s  28.3%  NVIDIA H200
                  1  512.0 MiB  8.0 GiB  612.0 MiB        0       -      -  NVIDIA H200

                GPU  WAITED FOR  TIMES    TIME    MEAN
                  0  its cap       100  40.0 s  400 ms

                FUNCTION               CALLS  FAILED      TIME      MEAN  LONGEST    BYTES
                cuLaunchKernel        100000       2   ~410 ms  ~4100 ns   1.3 ms        -
                cuInit                     1       -    301 ms    301 ms   301 ms        -
                cuMemAlloc_v2             12       1  120.0 us   10.0 us  45.6 us  3.0 GiB
                cuMemcpyHtoDAsync_v2       7       -   70.0 us   10.0 us  20.0 us  1.0 MiB\
                """);
    }

    @Test
    void shouldShowCallsInASecondBetweenTwoLooks() {
        List<String> lines = StatText.lines(MadeUp.training(), calls(3 * SECOND, 100_000), calls(SECOND, 90_000), 1, MadeUp.PLAIN);

        assertThat(lines).containsSubsequence(
                "FUNCTION         CALLS  IN A SECOND  FAILED     TIME      MEAN  LONGEST  BYTES",
                "cuLaunchKernel  100000         5000       2  ~410 ms  ~4100 ns   1.3 ms      -",
                "and 3 more; --top 0 shows all");
    }

    @Test
    void shouldShowNoTimeOfCallsThatWereNotTimed() {
        TenantCalls calls = new TenantCalls(true, SECOND, List.of(new CallCount("cuCtxGetDevice", CallKind.OTHER, 3, 0, 0, 0, 0, 0)), calls(0, 0).traffic());

        assertThat(StatText.lines(MadeUp.ended(), calls, null, 0, MadeUp.PLAIN)).contains("cuCtxGetDevice      3       -     -     -        -      -");
        assertThat(JsonValues.of(out -> Json.write(out, json -> StatJson.write(json, MadeUp.ended(), calls)))).contains("/functions/0/calls=3")
                .noneMatch(value -> value.startsWith("/functions/0/nanos") || value.startsWith("/functions/0/longestNanos"));
    }

    @Test
    void shouldWriteNoSumsOfCallsThatWereNotCounted() {
        TenantCalls calls = new TenantCalls(false, SECOND, List.of(), calls(0, 0).traffic());

        assertThat(JsonValues.of(out -> Json.write(out, json -> StatJson.write(json, MadeUp.ended(), calls)))).contains("/counted=false")
                .noneMatch(value -> value.startsWith("/calls") || value.startsWith("/kernels") || value.startsWith("/copied"));
    }

    @Test
    void shouldSayThatNothingWasCounted() {
        List<String> lines = StatText.lines(MadeUp.ended(), new TenantCalls(false, SECOND, List.of(), calls(0, 0).traffic()), null, 20, MadeUp.PLAIN);

        assertThat(lines).contains("tenant    old, ended").anyMatch(line -> line.startsWith("calls     not counted: "));
    }
}
