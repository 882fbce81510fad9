package sluice.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Year;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.trace.export.TraceFormat;
import sluice.trace.read.RingFixture;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceProgress;
import sluice.trace.report.ReportBuilder;
import sluice.trace.report.ReportData;
import sluice.trace.report.output.ReportHtml;
import sluice.trace.report.output.ReportJson;
import sluice.trace.report.output.ReportText;

/// Files of a trace with flipped bits, cut off, or in each other's place: what is left is read, and nothing that cannot be true is said.
@Fault(kind = Fault.Kind.DAMAGE, of = "the files of a trace")
class DamagedTraceTest {
    private static final int CASES = Integer.getInteger("sluice.trace.damages", 500);
    private static final int STEPS = 12;
    private static final Pattern NEGATIVE = Pattern.compile("(?<![\\w.–-])-\\d[\\d.,]* ?(%|ns|µs|ms|s\\b|min)");

    @TempDir
    private Path folder;

    private final Map<String, byte[]> whole = new LinkedHashMap<>();
    private long eventsOfAll;

    @BeforeEach
    void record() throws IOException {
        RingFixture.entries(folder, "cuMemAlloc_v2", "cuLaunchKernel", "cuMemcpyHtoD_v2", "cuStreamSynchronize");
        RingFixture.process(folder, 7, "command=python train.py", "tenant=job", "gpu.0=GPU-1234 Simulated GPU", "share.0=250 3", "start=1700000000000000000");
        RingFixture.name(folder, 7, 11, "gemm");
        RingFixture.name(folder, 7, 12, "step");
        for (int thread = 8; thread < 11; thread++) {
            RingFixture ring = new RingFixture(folder, 7, thread);
            for (long step = 0; step < STEPS; step++) {
                long at = step * 20_000_000 + thread;
                if (step % 3 == 0) {
                    ring.clock(at);
                }
                ring.memory(1, at + 10, at + 2000, 4096, 2 << 20).wait(at + 2100, at + 9000, TraceEvent.Reason.CAP).kernel(2, at + 2000, at + 10_000, 0xabc, 11)
                        .call(3, 0, at + 11_000, at + 50_000, 1, 512, TraceEvent.Direction.TO_GPU).turn(at + 2000, at + 70_000)
                        .batch(at + 11_000, at + 90_000, 2, 30_000).cost(at + 91_000, 11, 12_000, 1).range(at, at + 92_000, 12, 0);
            }
            ring.clock(STEPS * 20_000_000L).dropped(3).write();
        }
        try (var files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                whole.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        eventsOfAll = read(0).events();
    }

    @Test
    void shouldStayTrueWhateverBitsAreFlipped() throws IOException {
        damage(1, (random, bytes) -> {
            for (int flips = 1 << random.nextInt(5); flips > 0; flips--) {
                int at = random.nextBoolean() ? random.nextInt(bytes.length) : random.nextInt(Math.min(bytes.length, 512));
                bytes[at] ^= (byte) (1 << random.nextInt(8));
            }
            return bytes;
        });
    }

    /// The words that matter most, with the values that hurt most.
    @Test
    void shouldStayTrueWhateverWordsAreWrong() throws IOException {
        long[] values = {-1, 0, 1, 3, 255, 1L << 32, 1L << 47, 1L << 62, Long.MIN_VALUE, Long.MAX_VALUE, RingFixture.WALL_AHEAD_NANOS};
        damage(2, (random, bytes) -> {
            for (int words = 1 << random.nextInt(4); words > 0; words--) {
                long value = values[random.nextInt(values.length)];
                int at = bytes.length < 512 ? 0 : random.nextInt(4) == 0 ? random.nextInt(56) * 8 : random.nextInt(bytes.length / 8) * 8;
                for (int i = 0; i < 8 && at + i < bytes.length; i++) {
                    bytes[at + i] = (byte) (value >> 8 * i);
                }
            }
            return bytes;
        });
    }

    @Test
    void shouldStayTrueWhereverAFileIsCut() throws IOException {
        damage(3, (random, bytes) -> Arrays.copyOf(bytes, random.nextInt(3) == 0 ? random.nextInt(Math.min(bytes.length, 5000)) : random.nextInt(bytes.length)));
    }

    @Test
    void shouldStayTrueWhenFilesAreSwapped() throws IOException {
        List<byte[]> all = List.copyOf(whole.values());
        damage(4, (random, bytes) -> all.get(random.nextInt(all.size())));
    }

    private interface Damage {
        byte[] apply(Random random, byte[] bytes);
    }

    private void damage(long seed, Damage damage) throws IOException {
        Random random = new Random(seed);
        List<String> names = List.copyOf(whole.keySet());
        for (int number = 0; number < CASES; number++) {
            String name = names.get(random.nextInt(names.size()));
            byte[] damaged = damage.apply(random, whole.get(name).clone());
            Files.write(folder.resolve(name), damaged);
            try {
                check(read(number), name.startsWith("ring") ? 2 * eventsOfAll / 3 : eventsOfAll);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ", case " + number + ", " + name, e);
            }
            Files.write(folder.resolve(name), whole.get(name));
        }
    }

    /// Some cases are also made into JSON, a page or a file for a viewer.
    private ReportData read(int number) throws IOException {
        try (TraceFolder trace = TraceFolder.open(folder)) {
            ReportData data = ReportBuilder.of(trace, TraceProgress.NONE);
            assertThat(NEGATIVE.matcher(ReportText.of(data)).results().map(found -> found.group()).toList()).isEmpty();
            if (number % 4 == 1) {
                assertThat(ReportJson.of(data)).doesNotContainPattern("nanos\": -|bytes\": -[^1]|dropped\": -|events\": -");
            }
            if (number % 16 == 0) {
                assertThat(NEGATIVE.matcher(ReportHtml.of(data).replaceAll("(?s)<(style|script).*?</\\1>", "")).results().map(found -> found.group()).toList()).isEmpty();
            }
            if (number % 8 == 4) {
                (number % 16 == 4 ? TraceFormat.PERFETTO : TraceFormat.CHROME).write(trace, folder.resolve("out.json"), TraceProgress.NONE);
                Files.delete(folder.resolve("out.json"));
            }
            return data;
        }
    }

    private static void check(ReportData data, long leastEvents) {
        int year = Year.from(data.began().atZone(ZoneOffset.UTC)).getValue();
        assertThat(year).isBetween(2007, 2099);
        assertThat(data.nanos()).isBetween(0L, 60_000_000_000L);
        assertThat(data.events()).isGreaterThanOrEqualTo(leastEvents);
        assertThat(data.dropped()).isNotNegative();
        assertThat(data.gpus()).allSatisfy(gpu -> {
            assertThat(gpu.busyNanos()).isNotNegative();
            assertThat(gpu.idleNanos()).isBetween(0L, data.nanos() + 1);
            assertThat(gpu.index()).isBetween(0, 254);
        });
    }
}
