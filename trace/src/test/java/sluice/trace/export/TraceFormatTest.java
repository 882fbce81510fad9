package sluice.trace.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.trace.read.RingFixture;
import sluice.trace.read.TraceEvent.Direction;
import sluice.trace.read.TraceEvent.Reason;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceProgress;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

class TraceFormatTest {
    private static final int EVENTS = 3000;

    @TempDir
    private Path folder;

    @BeforeEach
    void describe() throws IOException {
        RingFixture.entries(folder, "cuMemAlloc_v2", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize");
        RingFixture.process(folder, 7, "command=python \"train\".py", "tenant=job", "gpu.0=GPU-1234 Simulated GPU");
        RingFixture.name(folder, 7, 11, "void gemm<float, 4>(float*)");
        RingFixture.name(folder, 7, 12, "step \\ \u0001 é");
    }

    private Path convert(String name) {
        Path file = folder.resolve(name);
        try (TraceFolder trace = TraceFolder.open(folder)) {
            TraceFormat.of(file).orElseThrow().write(trace, file, TraceProgress.NONE);
        }
        return file;
    }

    private void smallTrace() throws IOException {
        new RingFixture(folder, 7, 8).clock(0)
                .memory(1, 10, 20, 4096, 2 << 20)
                .wait(30, 38, Reason.CAP)
                .kernel(2, 30, 40, 0xabc, 11)
                .call(3, 0, 50, 60, 0xabc, 512, Direction.TO_GPU)
                .turn(30, 70)
                .batch(42, 72, 3, 15)
                .range(12, 14, 12, 1)
                .range(10, 80, 12, 0)
                .mark(82, 12)
                .dropped(5)
                .clock(200_000_000)
                .write();
    }

    @Test
    void shouldPutEventsOnTheTracksOfTheirKind() throws IOException {
        smallTrace();
        PerfettoFile trace = PerfettoFile.read(convert("job.pftrace"));
        PerfettoFile.TrackOf process = trace.track("process", "python \"train\".py");
        PerfettoFile.TrackOf thread = trace.track("thread", "worker 8");
        PerfettoFile.TrackOf gpu = trace.track("slices", "GPU 0");
        PerfettoFile.TrackOf stream = trace.track("slices", "stream 0xabc");
        assertThat(thread).isEqualTo(new PerfettoFile.TrackOf(thread.uuid(), process.uuid(), "worker 8", "thread", 7, 8));
        assertThat(stream.parent()).isEqualTo(process.uuid());
        assertThat(trace.on(thread)).extracting(PerfettoFile.Slice::name, PerfettoFile.Slice::depth, PerfettoFile.Slice::category)
                .containsExactly(tuple("cuMemAlloc_v2", 0, "call"), tuple("cuLaunchKernel", 0, "call"), tuple("wait for the cap", 1, "wait"),
                        tuple("cuMemcpyHtoDAsync_v2", 0, "call"));
        assertThat(trace.on(stream)).extracting(PerfettoFile.Slice::name)
                .containsExactly("void gemm<float, 4>(float*)", "copy to GPU");
        assertThat(trace.on(stream).getFirst().details()).isEqualTo(Map.of("grid", "64x2x3", "block", "256x4x1", "shared_bytes", 48L));
        assertThat(trace.on(trace.track("slices", "busy"))).singleElement().satisfies(batch -> {
            assertThat(batch.begin()).isEqualTo(RingFixture.nanos(42));
            assertThat(batch.end()).isEqualTo(RingFixture.nanos(72));
        });
        assertThat(trace.on(trace.track("slices", "turns"))).hasSize(1);
        assertThat(trace.track("slices", "busy").parent()).isEqualTo(gpu.uuid());
        assertThat(trace.on(trace.track("slices", "ranges of thread 8"))).extracting(PerfettoFile.Slice::depth).containsExactly(0, 1);
        assertThat(trace.counts).containsExactly(
                new PerfettoFile.Count(trace.track("counter", "memory in use").uuid(), RingFixture.nanos(20), 2 << 20));
        assertThat(trace.instants).extracting(PerfettoFile.Instant::name).containsExactlyInAnyOrder("step \\ \u0001 é", "5 events dropped");
        assertThat(trace.clocks.get(1L) - trace.clocks.get(3L)).isEqualTo(RingFixture.WALL_AHEAD_NANOS);
    }

    private static org.assertj.core.groups.Tuple tuple(Object... values) {
        return org.assertj.core.groups.Tuple.tuple(values);
    }

    /// Calls one after the other on each of several threads, some with waits at their very beginning, all on shared streams.
    @Test
    void shouldNestAndAddUpWhateverThreadsDo() throws IOException {
        Random random = new Random(7);
        long callNanos = 0;
        long waitNanos = 0;
        for (int thread = 1; thread <= 4; thread++) {
            RingFixture ring = new RingFixture(folder, 7, thread).clock(0);
            long now = 0;
            for (int event = 0; event < EVENTS; event++) {
                long begin = now + 2 * random.nextInt(3);
                long end = begin + 2 * random.nextInt(40);
                if (random.nextInt(4) == 0) {
                    long waited = (end - begin) / 4 * 2;
                    ring.wait(begin, begin + waited, Reason.TURN);
                    waitNanos += waited / 2;
                }
                if (random.nextBoolean()) {
                    ring.kernel(2, begin, end, random.nextInt(1, 4), 11);
                } else {
                    ring.call(4, 0, begin, end, 0, 0, Direction.NONE);
                }
                callNanos += (end - begin) / 2;
                now = end;
            }
            ring.clock(now + 100_000_000).write();
        }
        PerfettoFile trace = PerfettoFile.read(convert("job.pftrace"));
        assertThat(sum(trace, "call")).isEqualTo(callNanos);
        assertThat(sum(trace, "wait")).isEqualTo(waitNanos);
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("call"))).hasSize(4 * EVENTS).allMatch(slice -> slice.depth() == 0);
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("wait"))).allMatch(slice -> slice.depth() == 1);
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("kernel"))).allMatch(slice -> slice.depth() == 0);
        for (PerfettoFile.TrackOf track : trace.tracks.values()) {
            List<PerfettoFile.Slice> outer = trace.on(track).stream().filter(slice -> slice.depth() == 0).toList();
            for (int at = 1; at < outer.size(); at++) {
                assertThat(outer.get(at).begin()).isGreaterThanOrEqualTo(outer.get(at - 1).end());
            }
        }
    }

    private static long sum(PerfettoFile trace, String category) {
        return trace.slices.stream().filter(slice -> slice.category().equals(category)).mapToLong(slice -> slice.end() - slice.begin()).sum();
    }

    @Test
    void shouldWriteTheSameAsJson() throws IOException {
        smallTrace();
        Path file = convert("job.json");
        List<String> phases = new ArrayList<>();
        List<String> names = new ArrayList<>();
        try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), Files.readString(file))) {
            for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
                if (token == JsonToken.VALUE_STRING && "ph".equals(json.currentName())) {
                    phases.add(json.getString());
                } else if (token == JsonToken.VALUE_STRING && "name".equals(json.currentName())) {
                    names.add(json.getString());
                }
            }
        }
        assertThat(phases.stream().filter("B"::equals)).hasSize(10).hasSameSizeAs(phases.stream().filter("E"::equals).toList());
        assertThat(phases.stream().filter("C"::equals)).hasSize(1);
        assertThat(phases.stream().filter("i"::equals)).hasSize(2);
        assertThat(names).contains("python \"train\".py", "step \\ \u0001 é", "GPU 0 busy", "GPU 0 memory in use", "wait for the cap");
        assertThat(Files.readString(file)).contains("\"ts\":1000.005");
    }

    @Test
    void shouldCompressWhatIsNamedSo() throws IOException {
        smallTrace();
        byte[] plain = Files.readAllBytes(convert("job.pftrace"));
        try (GZIPInputStream compressed = new GZIPInputStream(Files.newInputStream(convert("job.pftrace.gz")))) {
            assertThat(compressed.readAllBytes()).isEqualTo(plain);
        }
        assertThat(TraceFormat.of(folder.resolve("job.txt"))).isEmpty();
    }
}
