package sluice.proof.bench.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.proof.facts.Stamps;

class BusyTest {
    @Test
    void shouldCountOverlappingWorkOnce() {
        Busy busy = Busy.of(stamps(0, 10_000, 5_000, 20_000, 6_000, 8_000));
        assertThat(busy.nanos(0, 100_000)).isEqualTo(20_000);
    }

    @Test
    void shouldTakeShortGapsBetweenQueuedKernelsAsBusy() {
        Busy busy = Busy.of(stamps(0, 10_000, 12_100, 21_600, 24_600, 30_000));
        assertThat(busy.begins()).containsExactly(0, 24_600);
        assertThat(busy.nanos(0, 30_000)).isEqualTo(27_000);
    }

    @Test
    void shouldCutWorkAtTheBordersOfAWindow() {
        Busy busy = Busy.of(stamps(0, 10_000, 50_000, 60_000));
        assertThat(busy.nanos(5_000, 55_000)).isEqualTo(10_000);
        assertThat(busy.nanos(10_000, 50_000)).isZero();
        assertThat(busy.share(0, 20_000)).isEqualTo(0.5);
        assertThat(busy.nanos(70_000, 90_000)).isZero();
    }

    @Test
    void shouldGiveOneShareForEachWholeWindow() {
        Busy busy = Busy.of(stamps(0, 10_000, 40_000, 60_000));
        assertThat(busy.windows(0, 70_000, 20_000)).containsExactly(0.5, 0.0, 1.0);
    }

    @Test
    void shouldLeaveOutTheFirstSecond() {
        long second = Witness.SECOND;
        Witness witness = new Witness(stamps(), Busy.of(stamps(0, 2 * second)), 0, 4 * second, 0, List.of(), 0);
        assertThat(witness.share()).isCloseTo(1 / 3.0, within(1e-9));
        assertThat(witness.seconds()).containsExactly(1.0, 0.0, 0.0);
    }

    @Test
    void shouldPutStampsInOrder() {
        Stamps sorted = stamps(5, 9, 3, 8, 4, 7).sorted();
        assertThat(sorted.begins()).containsExactly(3, 4, 5);
        assertThat(sorted.ends()).containsExactly(8, 7, 9);
    }

    @Test
    void shouldMergeTheStampsOfTwo() {
        Stamps both = stamps(1, 2, 5, 6).and(stamps(3, 4, 7, 8));
        assertThat(both.begins()).containsExactly(1, 3, 5, 7);
        assertThat(both.ends()).containsExactly(2, 4, 6, 8);
    }

    @Test
    void shouldNotCountAWaitBetweenStampAndCopy() {
        Stamps brackets = stamps(0, 2, 300, 302, 1000, 1002, 1300, 1302, 2000, 2002, 9300, 9302).brackets();
        assertThat(brackets.begins()).containsExactly(0, 1000, 9000);
        assertThat(brackets.ends()).containsExactly(302, 1302, 9302);
    }

    @Test
    void shouldReadWhatAProbeWrote(@TempDir Path folder) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        bytes.putLong(1).putLong(2).putLong(3).putLong(4);
        Stamps read = Stamps.read(Files.write(folder.resolve("stamps"), bytes.array()));
        assertThat(read.begins()).containsExactly(1, 3);
        assertThat(read.ends()).containsExactly(2, 4);
    }

    @Test
    void shouldFindHandOvers() {
        HandOvers found = HandOvers.of(List.of(stamps(0, 10, 10, 20, 100, 110), stamps(50, 60, 60, 90, 130, 140)));
        assertThat(found.gaps()).containsExactly(10, 20, 30);
        assertThat(found.turns()).containsExactly(2, 2);
        assertThat(found.gap(0.5)).isEqualTo(20);
        assertThat(found.gap(0.99)).isEqualTo(30);
    }

    @Test
    void shouldTakeWhatBeganInATime() {
        Stamps some = stamps(0, 10, 10, 20, 100, 110, 120, 130).between(10, 120);
        assertThat(some.begins()).containsExactly(10, 100);
        assertThat(some.ends()).containsExactly(20, 110);
    }

    @Test
    void shouldSeeWhenTwoTenantsOverlap() {
        assertThat(HandOvers.of(List.of(stamps(0, 10), stamps(8, 12))).gaps()).containsExactly(-2);
    }

    /// Begin, end, begin, end, …
    private static Stamps stamps(long... words) {
        long[] begins = new long[words.length / 2];
        long[] ends = new long[words.length / 2];
        for (int i = 0; i < begins.length; i++) {
            begins[i] = words[2 * i];
            ends[i] = words[2 * i + 1];
        }
        return new Stamps(begins, ends);
    }
}
