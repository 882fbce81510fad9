package sluice.trace.record;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.linux.Folder;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceProgress;

class TraceRecorderTest {
    private static final int EVENTS = 400_000;

    @TempDir
    private Path folder;

    private Path rings;
    private Folder source;
    private Path target;

    @BeforeEach
    void makeFolders() throws IOException {
        rings = Files.createDirectory(folder.resolve("rings"));
        target = Files.createDirectory(folder.resolve("target"));
        source = Folder.open(rings);
    }

    @AfterEach
    void closeFolder() {
        source.close();
    }

    private List<Long> recorded(int tid) {
        List<Long> numbers = new ArrayList<>();
        try (TraceFolder trace = TraceFolder.open(target)) {
            trace.forEach(event -> {
                if (event.tid() == tid) {
                    numbers.add(((TraceEvent.Call) event).bytes());
                }
            }, TraceProgress.NONE);
        }
        return numbers;
    }

    @Test
    void shouldTakeEveryEventOnceWhileThreadsWrite() throws Exception {
        try (LiveWriter first = new LiveWriter(rings, 1, 1, 4096); LiveWriter second = new LiveWriter(rings, 1, 2, 1024)) {
            List<Thread> threads = new ArrayList<>();
            for (LiveWriter writer : List.of(first, second)) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (long event = 0; event < EVENTS; event++) {
                        while (!writer.call(event)) {
                            Thread.onSpinWait();
                        }
                    }
                    writer.end();
                }));
            }
            TraceRecorder recorder = new TraceRecorder(source, target);
            while (recorder.events() < 2 * EVENTS) {
                recorder.poll();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            recorder.close();
            assertThat(recorder.events()).isEqualTo(2 * EVENTS);
        }
        List<Long> all = LongStream.range(0, EVENTS).boxed().toList();
        assertThat(recorded(1)).isEqualTo(all);
        assertThat(recorded(2)).isEqualTo(all);
    }

    @Test
    void shouldCountExactlyWhatItWasTooSlowFor() throws Exception {
        try (LiveWriter writer = new LiveWriter(rings, 1, 1, 64); TraceRecorder recorder = new TraceRecorder(source, target)) {
            LongStream.range(0, 100).forEach(writer::call);
            assertThat(recorder.poll()).isEqualTo(64);
            LongStream.range(100, 110).forEach(writer::call);
            assertThat(recorder.poll()).isEqualTo(10);
            LongStream.range(110, 200).forEach(writer::call);
        }
        try (TraceFolder trace = TraceFolder.open(target)) {
            assertThat(trace.info().dropped()).isEqualTo(36 + 26);
            assertThat(trace.info().events()).isEqualTo(200 - 36 - 26);
        }
        assertThat(recorded(1)).isEqualTo(LongStream.concat(LongStream.range(0, 64), LongStream.range(100, 174)).boxed().toList());
    }

    @Test
    void shouldForgetThreadsThatHaveEndedAndTakeTheirNumberAgain() throws Exception {
        Path ring = rings.resolve("ring-1-1");
        try (TraceRecorder recorder = new TraceRecorder(source, target)) {
            for (long life = 0; life < 3; life++) {
                try (LiveWriter writer = new LiveWriter(rings, 1, 1, 64)) {
                    writer.call(life);
                    recorder.poll();
                    assertThat(ring).exists();
                    writer.end();
                    recorder.poll();
                    assertThat(ring).doesNotExist();
                    assertThat(recorder.threads()).isZero();
                }
            }
            assertThat(recorder.events()).isEqualTo(3);
        }
        assertThat(recorded(1)).containsExactlyInAnyOrder(0L, 1L, 2L);
    }

    @Test
    void shouldKeepNamesThatComeLater() throws Exception {
        try (TraceRecorder recorder = new TraceRecorder(source, target)) {
            Files.writeString(rings.resolve("names-1"), "1\tone\n");
            recorder.poll();
            Files.writeString(rings.resolve("names-1"), "1\tone\n2\ttwo\n");
        }
        assertThat(target.resolve("names-1")).hasContent("1\tone\n2\ttwo\n");
    }

    @Test
    void shouldLeaveAloneWhatIsNoRing() throws Exception {
        Files.writeString(rings.resolve("ring-1-9"), "x".repeat(5000));
        Files.createFile(rings.resolve("ring-1-8"));
        try (TraceRecorder recorder = new TraceRecorder(source, target)) {
            assertThat(recorder.poll()).isZero();
        }
        assertThat(target).isEmptyDirectory();
    }

    /// Root records jobs of other users, and these can put anything into the folder.
    @Test
    void shouldCopyNothingThatALinkLeadsTo() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "secret");
        Files.createSymbolicLink(rings.resolve("names-1"), secret);
        Files.createSymbolicLink(rings.resolve("ring-1-1"), secret);
        Files.createLink(rings.resolve("names-2"), secret);
        assertThat(new ProcessBuilder("mkfifo", rings.resolve("names-3").toString(), rings.resolve("ring-2-2").toString()).start().waitFor()).isZero();
        try (LiveWriter writer = new LiveWriter(rings, 1, 3, 64); TraceRecorder recorder = new TraceRecorder(source, target)) {
            writer.call(5);
            writer.end();

            recorder.poll();

            assertThat(recorder.events()).isPositive();
        }
        assertThat(recorded(3)).containsExactly(5L);
        assertThat(Files.exists(target.resolve("names-1"))).isFalse();
        assertThat(Files.exists(target.resolve("names-2"))).isFalse();
        assertThat(secret).hasContent("secret");
    }

    /// What a thread of the tenant writes into its own ring must not keep the others from being recorded.
    @Test
    void shouldRecordTheOthersWhateverARingSays() throws Exception {
        java.util.Random random = new java.util.Random(18);
        long[] odd = {-1, 0, 3, 63, 65, 1L << 40, 1L << 62, Long.MIN_VALUE, Long.MAX_VALUE};
        long written = 0;
        try (LiveWriter honest = new LiveWriter(rings, 1, 1, 64); TraceRecorder recorder = new TraceRecorder(source, target)) {
            for (int tid = 2; tid < 60; tid++) {
                LiveWriter hostile = new LiveWriter(rings, 1, tid, 64);
                hostile.call(1);
                if (tid % 2 == 0) {
                    recorder.poll();
                }
                Path ring = rings.resolve("ring-1-" + tid);
                try (var file = java.nio.channels.FileChannel.open(ring, java.nio.file.StandardOpenOption.WRITE)) {
                    int offset = new int[] {RING_CAPACITY_OFFSET, WRITER_HEAD_OFFSET, READER_TAIL_OFFSET, WRITER_DROPPED_OFFSET, PROCESS_STRAYS_OFFSET}[random.nextInt(5)];
                    var word = java.nio.ByteBuffer.allocate(8).order(java.nio.ByteOrder.LITTLE_ENDIAN).putLong(0, odd[random.nextInt(odd.length)]);
                    file.write(word, offset);
                    if (random.nextInt(4) == 0) {
                        file.truncate(random.nextInt(PAGE_BYTES + 64));
                    }
                }
                honest.call(written++);
                recorder.poll();
                recorder.poll();
            }
            assertThat(recorder.damage()).isNotEmpty();
            assertThat(recorder.dropped()).isBetween(0L, 1L << 49);
            assertThat(recorder.events()).isBetween(written, written + 58 * 64);
        }
        assertThat(recorded(1)).isEqualTo(LongStream.range(0, written).boxed().toList());
    }

    @Test
    void shouldTellCallsOfThreadsWithoutARing() throws Exception {
        try (LiveWriter writer = new LiveWriter(rings, 1, 1, 64); TraceRecorder recorder = new TraceRecorder(source, target)) {
            writer.call(1);
            recorder.poll();
            assertThat(recorder.dropped()).isZero();
            writer.strays(7);
            recorder.poll();
            assertThat(recorder.dropped()).isEqualTo(7);
        }
        try (TraceFolder trace = TraceFolder.open(target)) {
            assertThat(trace.info().dropped()).isEqualTo(7);
        }
    }
}
