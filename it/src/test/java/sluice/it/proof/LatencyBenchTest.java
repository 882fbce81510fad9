package sluice.it.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;

/// `sluice bench latency` on the simulated GPU.
@Timed
class LatencyBenchTest extends OnMachine {
    private Machine.Outcome bench(Path folder) throws Exception {
        Machine.Outcome outcome = machine.sluice("bench", "latency", "--sim", "--seconds", "2", "--only", "100us/50 ms/1 tenant/priorities", "--out", folder.toString());
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        return outcome;
    }

    private static double value(String json, String row, String name) {
        Matcher found = Pattern.compile("\"name\": \"[^\"]*" + row + "\".*\"" + name + "\": ([0-9.]+)").matcher(json);
        assertThat(found.find()).as(row + " " + name + " in " + json).isTrue();
        return Double.parseDouble(found.group(1));
    }

    /// A burst meets a kernel of 50 ms in its middle: 25 ms. With time slices the simulated GPU changes hands after 100 us.
    @Test
    void shouldShowThatTimeSlicesShortenTheWait() throws Exception {
        Path out = directory.resolve("out");
        Machine.Outcome[] last = {null};
        double gain = Again.until(times -> times > 1, () -> {
            last[0] = bench(out);
            String json = Files.readString(out.resolve("latency.json"));
            assertThat(value(json, "without slices", "p99Nanos")).as("a kernel cannot be cut").isGreaterThan(20e6);
            assertThat(value(json, "with slices", "p50Nanos")).isLessThanOrEqualTo(value(json, "with slices", "p99Nanos"));
            assertThat(value(json, "with slices", "p99Nanos")).isLessThanOrEqualTo(value(json, "with slices", "mostNanos"));
            assertThat(value(json, "with slices", "othersKeep")).isPositive();
            assertThat(value(json, "alone", "p99OfAlone")).isEqualTo(1);
            return value(json, "without slices", "p99Nanos") / value(json, "with slices", "p99Nanos");
        });
        assertThat(gain).isGreaterThan(1);
        assertThat(last[0].output()).contains("| | p50 | p90 | p99 | most | p99 / alone | others keep | target | |")
                .containsPattern("(?m)^\\| 10 × 100 µs alone \\|.*\\| 1\\.00 \\| - \\|")
                .containsPattern("(?m)^\\| 10 × 100 µs beside 1 tenant with kernels of 50 ms, priorities with slices \\|.* %")
                .isEqualTo(Files.readString(out.resolve("latency.md")));
        assertThat(last[0].errors()).contains("repeat 1: p99 ").contains("left");
        assertThat(Files.readString(out.resolve("latency-tens.svg"))).contains("p99 of bursts of 10 × 100 µs", "1 tenant with kernels of 50 ms, priorities with slices");
        assertThat(Files.readString(out.resolve("latency.csv"))).contains("response-nanos").contains("kernels-per-second");
    }
}
