package sluice.proof.bench.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.proof.bench.compute.Witness;
import sluice.proof.facts.Stamps;
import sluice.region.place.SluiceException;

class LockReportTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1000 * MILLI;

    /// Kernels of the given length, one after the other, from the second second on.
    private static Witness witness(List<Long> responses, long length, long... begins) {
        long[] from = LongStream.of(begins).map(begin -> SECOND + begin).toArray();
        Stamps stamps = new Stamps(from, LongStream.of(from).map(begin -> begin + length).toArray());
        return new Witness(stamps, null, 0, 10 * SECOND, 0, responses, 0);
    }

    /// 350 kernels of a millisecond, between which the other task has two of the same length.
    private static LockRun shared() {
        long[] begins = LongStream.range(0, 350).map(i -> (i < 10 ? i : i + 2) * MILLI).toArray();
        return LockRun.of(LockWindow.parse("0.050"), 1, witness(Collections.nCopies(60, 3 * MILLI), MILLI, 10 * MILLI, 11 * MILLI),
                Optional.of(witness(List.of(), MILLI, begins)));
    }

    @Test
    void shouldSeeHoldsFramesAndResponses() {
        LockRun run = shared();

        assertThat(run.holds()).containsExactly(new LockRun.Hold(false, 0, 10, 10), new LockRun.Hold(true, 10, 2, 2), new LockRun.Hold(false, 12, 340, 340));
        assertThat(run.frameSeconds()).as("the first is left out").containsExactly(0.1, 0.1);
        assertThat(run.responseMillis()).as("after the first second, or half").hasSize(30).containsOnly(3.0);
    }

    @Test
    void shouldWriteTheFilesOfCulocker() {
        LockReport report = new LockReport(List.of(
                LockRun.of(LockWindow.parse("2"), 1, witness(List.of(2 * MILLI, 2 * MILLI), MILLI, 0), Optional.empty()), shared()));

        assertThat(report.files().get("cu_log_T3_L7.csv")).isEqualTo("frame,time,window_size\n1,0.100000,0.05\n2,0.100000,0.05\n");
        assertThat(report.files().get("cu_log_task_T3_L7.csv")).startsWith("time,window_size\n2.0000,2\n3.0000,0.05\n").hasLineCount(32);
        assertThat(report.files().get("cu_log_holds_T3_L7.csv")).isEqualTo("""
                task,round,began,held,kernels,window_size
                short,1,0.0000,1.0000,1,2
                long,1,0.0000,10.0000,10,0.05
                short,1,10.0000,2.0000,2,0.05
                long,1,12.0000,340.0000,340,0.05
                """);
        assertThat(report.files().get("lock.md")).contains("| alone | 2.00 ms | 2.00 ms | 2.00 ms | 0.0 % | 0.0 % | – | – | – |")
                .contains("| 0.05 ms | 3.00 ms |");
        assertThat(report.files()).hasSize(6).allSatisfy((name, text) -> assertThat(name.endsWith(".svg")).isEqualTo(text.startsWith("<svg ")));
        assertThat(report.files().get("lock-responses.svg")).contains(">alone<").contains(">0.05 ms<");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "5", "1.5", "ms", "NaN"})
    void shouldRefuseWhatIsNoWindow(String text) {
        assertThatThrownBy(() -> LockWindow.parse(text)).isInstanceOf(SluiceException.class).hasMessageContaining("bad window '" + text + "'");
    }
}
