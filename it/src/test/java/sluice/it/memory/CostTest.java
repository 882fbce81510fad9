package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// That the account does not get slower as it grows. What calls cost is measured by `sluice bench`; here only bounds that hold
/// on any machine, however busy.
class CostTest extends OnMachine {
    private static final String CALLS = "3000";
    private static final int TRIES = 5;

    /// An allocation and a free together add less than the free alone may.
    @Test
    void shouldFreeAmongAHundredThousandForLessThanAMicrosecond() throws Exception {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < TRIES && least >= 1000; i++) {
            double without = nanos(machine.bare(Machine.program("cost"), CALLS));
            double with = nanos(machine.preloaded(Map.of("SLUICE_MEMORY", "8g"), Machine.program("cost"), CALLS));
            least = Math.min(least, with - without);
        }
        assertThat(least).as("nanoseconds added").isLessThan(1000);
    }

    /// What the driver's own function takes is without the library although both are measured in one process.
    @Test
    void shouldMeasureWhatATraceAddsWithinOneProcess() throws Exception {
        Path results = directory.resolve("results");
        Machine.Outcome outcome = machine.sluice("bench", "compute", "--sim", "--only", "cost/traced to a folder", "--repeats", "1",
                "--out", results.toString());
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        List<String> lines = Files.readAllLines(results.resolve("compute.csv"));
        List<Double> without = values(lines, "without-nanos");
        List<Double> with = values(lines, "with-nanos");
        double[] added = IntStream.range(0, with.size()).mapToDouble(i -> with.get(i) - without.get(i)).sorted().toArray();
        assertThat(added[added.length / 2]).as("nanoseconds added").isPositive();
    }

    private static List<Double> values(List<String> lines, String quantity) {
        return lines.stream().filter(line -> line.contains("," + quantity + ",")).map(line -> Double.valueOf(line.replaceFirst(".*,", ""))).toList();
    }

    private static double nanos(Machine.Outcome outcome) {
        String start = "alloc+free 100000 ";
        return outcome.lines().stream().filter(line -> line.startsWith(start)).map(line -> line.substring(start.length()))
                .mapToDouble(Double::parseDouble).findFirst().orElseThrow(() -> new AssertionError(outcome.toString()));
    }
}
