package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.Machine.Outcome;
import sluice.it.machine.OnMachine;

/// Stream-ordered memory and graphs that allocate: what the driver's pools have reserved is what counts.
class PoolsAndGraphsTest extends OnMachine {
    private static final long MIB = 1L << 20;
    private static final long STEP = 64 * MIB;

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

    /// The programs of issue 17 that passed the quota: one thread, many, and with a synchronization now and then.
    @ParameterizedTest
    @CsvSource({"1,1,0", "1,4,0", "1,4,10", "8,2,0", "8,2,100"})
    void shouldHoldThePoolToTheQuotaWhateverTheOrder(String threads, String streams, String every) throws Exception {
        var outcome = async("info", "--step", "64m", "--count", "1500", "--threads", threads, "--streams", streams, "--every", every, "churn", "info");
        String[] words = outcome.lines().stream().filter(line -> line.startsWith("churn ")).findFirst().orElseThrow().split(" ");
        assertThat(Long.parseLong(words[1])).as("granted").isGreaterThan(100);
        assertThat(Long.parseLong(words[3])).as("most that the driver reserved").isBetween(896 * MIB, 1024 * MIB + 32 * MIB);
        assertThat(info(outcome, 1)).isEqualTo(info(outcome, 0));
    }

    /// The other side: a quota of 1 GiB grants about what a GPU of 1 GiB does.
    @ParameterizedTest
    @CsvSource({"1", "4"})
    void shouldGrantAsMuchAsAGpuOfThatSize(String streams) throws Exception {
        String[] churn = {"--step", "64m", "--count", "3000", "--streams", streams, "churn"};
        long limited = granted(async(churn));
        machine.with("SLUICE_SIM_MEMORY", "1g").with("SLUICE_SIM_STATE", directory.resolve("small").toString());
        long small = granted(machine.bare(Stream.concat(Stream.of(Machine.program("async")), Stream.of(churn)).toArray(String[]::new)));
        assertThat(limited).isGreaterThan(small * 8 / 10);
    }

    private static long granted(Outcome outcome) {
        return Long.parseLong(outcome.lines().stream().filter(line -> line.startsWith("churn ")).findFirst().orElseThrow().split(" ")[1]);
    }

    @Test
    void shouldHoldTwoProcessesToTheQuotaTogether() throws Exception {
        machine.with("SLUICE_TENANT", "both");
        Process[] churns = new Process[2];
        for (int i = 0; i < churns.length; i++) {
            churns[i] = machine.startPreloaded(Map.of("SLUICE_MEMORY", "1g"), Machine.program("async"), "--step", "64m", "--count", "1000", "--threads", "4", "churn", "info");
        }
        for (Process each : churns) {
            Outcome outcome = Machine.await(each);
            assertThat(outcome.status()).isZero();
            assertThat(outcome.output()).containsPattern("churn \\d+ \\d+ \\d+");
        }
        assertThat(info(async("info"), 0).free()).isEqualTo(1024 * MIB);
    }

    /// 39 of 50 were refused: what idle graphs held was not counted as room.
    @Test
    void shouldLaunchEachOfManyGraphsThatFitOneByOne() throws Exception {
        var outcome = machine.limited("400m", "async", "--step", "150m", "--count", "50", "graphs", "info");
        assertThat(outcome.output()).contains("graphs 0");
        assertThat(info(outcome, 0).graph()).isBetween(160 * MIB, 224 * MIB);
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
