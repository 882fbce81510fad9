package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.it.machine.Timed;

/// A cap is the tenant's: all its processes keep to it together, however they came to be. Each of two runs 120 kernels of a
/// millisecond under a quarter of the GPU. A busy machine may make them slower, but nothing makes them too fast.
@Isolated
class SharedCapTest extends OnMachine {
    private static final int KERNELS = 120;
    /// Less the 60 ms that a job that was idle is ahead.
    private static final double ALONE_MILLIS = KERNELS * 4 - 60;
    private static final double BOTH_MILLIS = 2 * KERNELS * 4 - 60;
    private static final double LEAST = 0.85;

    private String windows() throws Exception {
        return Machine.program("windows") + " " + machine.kernels() + " " + KERNELS + " 1000";
    }

    private record Work(double begin, double millis) {
        static Work parse(String line) {
            String[] words = line.split(" ");
            return new Work(Double.parseDouble(words[3]), Double.parseDouble(words[2]));
        }

        double end() {
            return begin + millis;
        }
    }

    /// In the order in which they ended.
    private List<Work> capped(String script) throws Exception {
        var outcome = machine.sluice("run", "--sim", "--name", "job", "--compute", "25%", "--", "sh", "-c", script);
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        return outcome.lines().stream().filter(line -> line.startsWith("done ")).map(Work::parse).toList();
    }

    /// On a busy machine one may begin after the other, so what both took counts from the first begin.
    private void assertShared(String script) throws Exception {
        assertThat(Again.until(fastest -> fastest > 1.3 * ALONE_MILLIS, () -> {
            List<Work> work = capped(script);
            assertThat(work).hasSize(2);
            double begin = Math.min(work.getFirst().begin(), work.getLast().begin());
            assertThat(work.getLast().end() - begin).isGreaterThan(LEAST * BOTH_MILLIS);
            return work.getFirst().millis();
        })).as("one had the cap to itself").isGreaterThan(1.3 * ALONE_MILLIS);
    }

    @Test
    @Timed
    void shouldHoldTwoProcessesToOneCap() throws Exception {
        assertShared(windows() + " & " + windows() + " & wait");
    }

    @Test
    @Timed
    void shouldHoldAForkedChildToTheCapOfItsTenant() throws Exception {
        assertShared(windows() + " --fork");
    }

    @Test
    void shouldShowTheCapOfEachGpu() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        Process job = machine.startSluice("run", "--sim", "--name", "job", "--compute", "0=25%,1=50%", "--",
                Machine.program("gated"), machine.kernels(), "gpus");
        var lines = new ArrayList<String>();
        while (job.isAlive()) {
            lines.addAll(machine.sluice("ps").lines());
        }

        assertThat(lines).anyMatch(line -> line.matches("job +0 .* 25% .*")).anyMatch(line -> line.matches("job +1 .* 50% .*"));
    }
}
