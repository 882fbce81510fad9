package sluice.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.it.Machine.Outcome;

/// Stream-ordered memory and graphs that allocate: what the driver's pools have reserved is what counts.
class PoolsAndGraphsTest {
    private static final long MIB = 1L << 20;
    private static final long STEP = 64 * MIB;

    @TempDir
    private Path directory;

    private Machine machine;

    @BeforeEach
    void start() throws Exception {
        machine = new Machine(directory);
    }

    /// hami.md 9.3
    @Test
    void shouldStopAsyncAllocationAtTheQuota() throws Exception {
        var outcome = async("info", "fill", "info", "free", "sync", "info");
        long start = info(outcome, 0).free();
        assertThat(outcome.output()).contains("got %d %d 2".formatted(start / STEP, start / STEP * STEP)).contains("freed %d 0".formatted(start / STEP));
        assertThat(info(outcome, 1).free()).isEqualTo(start % STEP);
        assertThat(info(outcome, 2)).isEqualTo(info(outcome, 0));
    }

    /// hami.md 9.1 and 9.2
    @Test
    void shouldStopAllocationFromAnOwnPoolAndFreeItEitherWay() throws Exception {
        var outcome = async("--pool", "own", "info", "fill", "free", "sync", "info", "fill", "free-now", "sync", "info", "destroy");
        assertThat(outcome.output()).doesNotContainPattern("freed \\d+ [1-9]").contains("destroy 0");
        assertThat(info(outcome, 1)).isEqualTo(info(outcome, 0));
        assertThat(info(outcome, 2)).isEqualTo(info(outcome, 0));
    }

    @Test
    void shouldChargeWhatThePoolKeepsUntilItIsTrimmed() throws Exception {
        var outcome = async("info", "threshold", "--count", "4", "fill", "free", "sync", "info", "trim", "info");
        long start = info(outcome, 0).free();
        assertThat(info(outcome, 1)).isEqualTo(new Info(start - 4 * STEP, 4 * STEP, 0, 0));
        assertThat(info(outcome, 2).free()).isEqualTo(start);
    }

    @Test
    void shouldLetThePoolGiveBackBeforeItRefusesAnother() throws Exception {
        var outcome = async("threshold", "fill", "free", "sync", "info", "plain", "info");
        assertThat(info(outcome, 0).free()).isLessThan(STEP);
        assertThat(outcome.output()).contains("plain 0");
    }

    @Test
    void shouldChargeWhatOutlivesItsPool() throws Exception {
        var outcome = async("info", "--pool", "own", "--count", "3", "fill", "destroy", "--pool", "none", "info", "free", "sync", "info");
        long start = info(outcome, 0).free();
        assertThat(info(outcome, 1).free()).isEqualTo(start - 3 * STEP);
        assertThat(info(outcome, 2).free()).isEqualTo(start);
    }

    @Test
    void shouldFollowThePoolThatIsTheDevicesNow() throws Exception {
        var outcome = async("info", "--pool", "own", "use", "--pool", "none", "fill", "free", "sync", "info");
        assertThat(outcome.output()).containsPattern("got 1[56] \\d+ 2");
        assertThat(info(outcome, 1).free()).isEqualTo(info(outcome, 0).free());
    }

    @Test
    void shouldShareTheQuotaAmongThreads() throws Exception {
        var outcome = async("info", "--threads", "8", "--step", "5m", "fill", "info", "free", "sync", "info");
        long start = info(outcome, 0).free();
        var full = info(outcome, 1);
        assertThat(full.reserved()).isEqualTo(start - full.free()).isGreaterThan(start - STEP);
        assertThat(info(outcome, 2)).isEqualTo(info(outcome, 0));
    }

    @Test
    void shouldRefundPoolsWithThePrimaryContext() throws Exception {
        var outcome = async("info", "threshold", "fill", "reset", "info", "fill");
        assertThat(info(outcome, 1).free()).isEqualTo(info(outcome, 0).free());
        assertThat(outcome.output()).containsPattern("(?s)got 1[56] \\d+ 2.*reset 0.*got 1[56] \\d+ 2");
    }

    @Test
    void shouldChargeTheGpuOfTheStream() throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        var outcome = machine.limited("0=1g,1=2g", "async", "--device", "1", "fill");
        assertThat(outcome.output()).containsPattern("got 3[12] \\d+ 2");
    }

    @Test
    void shouldChargeAGraphThatAllocatesWhileTheDriverKeepsItsMemory() throws Exception {
        var outcome = async("info", "--step", "100m", "--count", "1", "graph", "info", "graph-trim", "info");
        long start = info(outcome, 0).free();
        assertThat(outcome.output()).contains("graph 0 0 0 0");
        assertThat(info(outcome, 1)).isEqualTo(new Info(start - 128 * MIB, 0, 0, 128 * MIB));
        assertThat(info(outcome, 2)).isEqualTo(info(outcome, 0));
    }

    @Test
    void shouldRefuseToLaunchAGraphThatNeedsMoreThanTheQuota() throws Exception {
        var outcome = async("info", "--step", "2g", "--count", "1", "graph", "info");
        assertThat(outcome.output()).contains("graph 0 0 2 2");
        assertThat(info(outcome, 1)).isEqualTo(info(outcome, 0));
    }

    private Outcome async(String... arguments) throws Exception {
        return machine.limited("1g", "async", arguments);
    }

    private record Info(long free, long reserved, long used, long graph) {}

    /// The line that the word "info" printed when it came for the nth time, from 0.
    private static Info info(Outcome outcome, int nth) {
        String[] words = outcome.lines().stream().filter(line -> line.startsWith("free ")).skip(nth).findFirst()
                .orElseThrow(() -> new AssertionError("fewer lines 'free …' than %d in: %s".formatted(nth + 1, outcome.output())))
                .split(" ");
        return new Info(Long.parseLong(words[1]), Long.parseLong(words[3]), Long.parseLong(words[5]), Long.parseLong(words[7]));
    }
}
