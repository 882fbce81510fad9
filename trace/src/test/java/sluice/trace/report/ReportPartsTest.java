package sluice.trace.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReportPartsTest {
    @Test
    void shouldKeepTheUnionOfSpans() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            ReportSpans spans = new ReportSpans();
            BitSet moments = new BitSet();
            for (int i = 0; i < 60; i++) {
                int begin = Math.max(0, i * 4 + random.nextInt(60) - 40);
                int end = begin + random.nextInt(12);
                spans.add(begin, end);
                moments.set(begin, end);
            }
            BitSet found = new BitSet();
            for (int at = spans.first(); at < spans.first() + spans.size(); at++) {
                assertThat(spans.begin(at)).isGreaterThan(at == 0 ? -1 : spans.end(at - 1));
                found.set((int) spans.begin(at), (int) spans.end(at));
            }
            assertThat(found).isEqualTo(moments);
        }
    }

    @Test
    void shouldLoseNothingBetweenBins() {
        Random random = new Random(7);
        ReportBins bins = new ReportBins(1_000_000, 9_000_003, 64);
        long sum = 0;
        for (int i = 0; i < 10_000; i++) {
            long begin = random.nextLong(10_000_000);
            long amount = random.nextLong(1000);
            bins.add(begin, begin + random.nextLong(3_000_000), amount);
            sum += amount;
        }
        assertThat(bins.sum()).isEqualTo(sum);
    }

    @Test
    void shouldSpreadTimeEvenly() {
        ReportBins bins = new ReportBins(0, 800, 8);
        bins.add(150, 450);
        assertThat(bins.folded(8)).containsExactly(0, 50, 100, 100, 50, 0, 0, 0);
    }

    @Test
    void shouldKeepMemoryUntilItChanges() {
        ReportMemory memory = new ReportMemory(0, 800, 8);
        memory.at(110, 5);
        memory.at(120, 9);
        memory.at(130, 3);
        memory.at(610, 7);
        assertThat(memory.bins()).containsExactly(-1, 9, 3, 3, 3, 3, 7, 7);
        assertThat(memory.peak()).isEqualTo(9);
        assertThat(memory.peakAt()).isEqualTo(120);
    }

    @Test
    void shouldKnowQuantilesToAnEighth() {
        ReportTimes times = new ReportTimes();
        for (int i = 1; i <= 1000; i++) {
            times.add(i * 1000);
        }
        assertThat(times.times().medianNanos()).isBetween(440_000L, 560_000L);
        assertThat(times.times().slowestPercentNanos()).isBetween(870_000L, 1_000_000L);
        assertThat(times.times().longestNanos()).isEqualTo(1_000_000);
    }
}
