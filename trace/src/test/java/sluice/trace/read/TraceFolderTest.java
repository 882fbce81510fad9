package sluice.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.place.SluiceException;
import sluice.trace.read.TraceEvent.Direction;
import sluice.trace.read.TraceEvent.Reason;

class TraceFolderTest {
    @TempDir
    private Path folder;

    private List<TraceEvent> events() {
        try (TraceFolder trace = TraceFolder.open(folder)) {
            List<TraceEvent> events = new ArrayList<>();
            trace.forEach(events::add, TraceProgress.NONE);
            assertThat((long) events.size()).isEqualTo(trace.info().events());
            return events;
        }
    }

    private TraceInfo info() {
        try (TraceFolder trace = TraceFolder.open(folder)) {
            return trace.info();
        }
    }

    @Test
    void shouldReadEachKindOfEvent() throws IOException {
        RingFixture.entries(folder, "cuMemAlloc_v2", "cuLaunchKernel", "cuMemcpyHtoD_v2");
        RingFixture.process(folder, 7, "command=python train.py", "tenant=job", "gpu.0=GPU-1234 Simulated GPU", "share.0=250 3", "start=5");
        RingFixture.name(folder, 7, 11, "gemm");
        RingFixture.name(folder, 7, 12, "step");
        new RingFixture(folder, 7, 8).clock(0)
                .memory(1, 10, 20, 4096, 2 << 20)
                .wait(32, 38, Reason.TURN)
                .kernel(2, 30, 40, 0xabc, 11)
                .call(3, 1, 50, 60, 1, 512, Direction.TO_GPU)
                .turn(30, 70)
                .batch(42, 72, 3, 15)
                .event(KIND_COST, SAMPLE_ALONE, 20 | 30 << 16, 74, 74, 128, 11, 1500, 2, 256)
                .range(10, 80, 12, 0)
                .mark(82, 12)
                .clock(200_000_000)
                .write();
        assertThat(events()).containsExactly(
                new TraceEvent.Call(at(10), at(20), 7, 8, 0, "cuMemAlloc_v2", 0, 0, 4096, Direction.NONE, 2 << 20),
                new TraceEvent.Wait(at(32), at(38), 7, 8, 0, Reason.TURN),
                new TraceEvent.Kernel(at(30), at(40), 7, 8, 0, "cuLaunchKernel", 0, 0xabc, "gemm",
                        new TraceEvent.Extent(64, 2, 3), new TraceEvent.Extent(256, 4, 1), 48),
                new TraceEvent.Call(at(50), at(60), 7, 8, 0, "cuMemcpyHtoD_v2", 1, 1, 512, Direction.TO_GPU, -1),
                new TraceEvent.Turn(at(30), at(70), 7, 8, 0),
                new TraceEvent.Batch(at(42), at(72), 7, 8, 0, 3, 15, 100),
                new TraceEvent.Cost(at(74), at(74), 7, 8, 0, "gemm", 128, 256, 1500, 2, new TraceEvent.Measured(true, 20, 30)),
                new TraceEvent.Range(at(10), at(80), 7, 8, "step", "", 0, true),
                new TraceEvent.Mark(at(82), at(82), 7, 8, "step", ""));
        assertThat(info().tenant()).isEqualTo("job");
        assertThat(info().processes()).containsExactly(new TraceInfo.Process(7, "python train.py", 5, "", ""));
        assertThat(info().threads()).containsExactly(new TraceInfo.ThreadRing(7, 8, "worker 8", 9, 0));
        assertThat(info().gpus()).containsExactly(new TraceInfo.Gpu(0, "GPU-1234", "Simulated GPU", 250, 3));
        assertThat(info().beginNanos()).isEqualTo(at(10));
        assertThat(info().endNanos()).isEqualTo(at(82));
        assertThat(info().anchor().wall(at(10))).isEqualTo(java.time.Instant.ofEpochSecond(0, at(10) + RingFixture.WALL_AHEAD_NANOS));
    }

    private static long at(long ticks) {
        return RingFixture.nanos(ticks);
    }

    /// Threads at random, a few events of each late by any distance.
    @Test
    void shouldMergeAllThreadsInTheOrderOfEndsWhateverIsLate() throws IOException {
        Random random = new Random(42);
        List<Long> expected = new ArrayList<>();
        for (int thread = 1; thread <= 5; thread++) {
            RingFixture ring = new RingFixture(folder, 1, thread).clock(0);
            long now = 0;
            for (int event = 0; event < 5000; event++) {
                now += 2 * random.nextInt(1, 50);
                boolean late = random.nextInt(20) == 0;
                long end = late ? 2 * random.nextLong(now / 2) : now;
                if (late) {
                    ring.batch(Math.max(0, end - 10), end, 1, 1);
                } else {
                    ring.call(1, 0, Math.max(0, end - 4), end, 0, 0, Direction.NONE);
                }
                expected.add(at(end));
            }
            ring.clock(now + 100_000_000).write();
        }
        expected.sort(Comparator.naturalOrder());
        assertThat(events().stream().map(TraceEvent::endNanos).toList()).isEqualTo(expected);
    }

    @Test
    void shouldReadWhatIsLeftOfARingThatIsEmptiedMeanwhile() throws IOException {
        RingFixture ring = new RingFixture(folder, 1, 1);
        for (int event = 0; event < 100; event++) {
            ring.call(1, 0, event * 10L, event * 10L + 2, 0, event, Direction.NONE);
        }
        ring.wrapped(64, 50).dropped(3).write();
        assertThat(events().stream().map(event -> ((TraceEvent.Call) event).bytes()))
                .containsExactlyElementsOf(java.util.stream.LongStream.range(50, 100).boxed().toList());
        assertThat(info().dropped()).isEqualTo(3);
    }

    @Test
    void shouldPassOverARingThatWasNeverFinished() throws IOException {
        RingFixture.process(folder, 1);
        new RingFixture(folder, 1, 1).layout(0).write();
        Files.write(folder.resolve("ring-1-2"), new byte[3]);
        assertThat(events()).isEmpty();
    }

    @Test
    void shouldSayWhatIsWrongWithAFolder() throws IOException {
        assertThatThrownBy(() -> TraceFolder.open(folder)).isInstanceOf(SluiceException.class).hasMessageContaining("there is no trace in");
        assertThatThrownBy(() -> TraceFolder.open(folder.resolve("none"))).hasMessageContaining("there is no folder");
        Path ring = new RingFixture(folder, 1, 1).layout(9).write();
        assertThatThrownBy(() -> TraceFolder.open(folder)).hasMessageContaining("has layout 9, this sluice reads layout 1");
        Files.writeString(ring, "something else that is long enough");
        assertThatThrownBy(() -> TraceFolder.open(folder)).hasMessageContaining("is no ring of a trace");
    }

    @Test
    @Fault(kind = Fault.Kind.DAMAGE, of = "the files of a trace")
    void shouldReadWhatIsLeftOfADamagedTrace() throws IOException {
        new RingFixture(folder, 1, 1).clock(0).call(1, 0, 10, 20, 0, 1, Direction.NONE).clock(200_000_000).write();
        Path cut = new RingFixture(folder, 1, 2).clock(0).call(1, 0, 10, 30, 0, 2, Direction.NONE).call(1, 0, 30, 40, 0, 3, Direction.NONE).write();
        Files.write(cut, java.util.Arrays.copyOf(Files.readAllBytes(cut), PAGE_BYTES + 2 * EVENT_BYTES + 5));
        new RingFixture(folder, 1, 3).clock(0).call(1, 0, 10, 50, 0, 4, Direction.NONE).wrapped(3, 0).write();
        Files.writeString(folder.resolve("ring-1-4"), "something else that is long enough");
        new RingFixture(folder, 1, 5).clock(0).call(1, 0, 1L << 60, 1L << 61, 0, 5, Direction.NONE).batch(10, 60, 1, -5).event(77, 0, 0, 1, 2, 0, 0, 0, 0, 0).write();
        try (TraceFolder trace = TraceFolder.open(folder)) {
            List<Long> bytes = new ArrayList<>();
            trace.forEach(event -> bytes.add(((TraceEvent.Call) event).bytes()), TraceProgress.NONE);
            assertThat(bytes).containsExactly(1L, 2L, 4L);
            assertThat(trace.info().endNanos()).isLessThan(at(100));
            assertThat(trace.damage()).containsExactlyInAnyOrder(new TraceDamage("ring-1-2", "is cut", 1),
                    new TraceDamage("ring-1-3", "is damaged (events 0 to 2 of 3, 2 in the file)", TraceDamage.UNKNOWN),
                    new TraceDamage("ring-1-4", "cannot be read as a ring", TraceDamage.UNKNOWN),
                    new TraceDamage("ring-1-5", "has events that cannot be true", 3));
        }
    }

    /// One wrong word in a clock's event must not move the whole trace.
    @Test
    void shouldNotBelieveASingleClock() throws IOException {
        RingFixture ring = new RingFixture(folder, 1, 1);
        for (long ticks = 0; ticks < 2_000_000_000L; ticks += 200_000_000) {
            ring.clock(ticks).call(1, 0, ticks + 10, ticks + 20, 0, 1, Direction.NONE);
        }
        ring.event(KIND_CLOCK, 0, 0, 2_000_000_000L, 2_000_000_000L, 0, 1L << 50, 7, 0, 0);
        ring.event(KIND_CLOCK, 0, 0, 1L << 55, 1L << 55, 0, at(2_000_000_000L), -5, 0, 0).write();
        assertThat(events().stream().map(TraceEvent::endNanos)).containsExactlyElementsOf(
                java.util.stream.LongStream.range(0, 10).map(i -> at(i * 200_000_000 + 20)).boxed().toList());
        assertThat(info().anchor().wall(at(10))).isEqualTo(java.time.Instant.ofEpochSecond(0, at(10) + RingFixture.WALL_AHEAD_NANOS));
    }
}
