package sluice.it.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Region;
import sluice.region.layout.LimitsView;
import sluice.trace.export.PerfettoFile;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceInfo;
import sluice.trace.read.TraceProgress;

/// Traces of the real library on the simulated GPU: everything that a program did is there, or is counted as dropped.
class TraceTest extends OnMachine {
    private static final int THREADS = 2;
    private static final long KERNELS = 100;
    /// Enough for a cap of a tenth to hold them up.
    private static final long LIMITED = 1000;
    /// 10000000 shows what a long job is like; it takes half a minute.
    private static final long MANY = Long.getLong("sluice.trace.calls", 1_000_000);

    private Path folder;

    @BeforeEach
    void start() throws Exception {
        folder = directory.resolve("trace");
    }

    private String[] job(long calls, long kernels, String... options) throws IOException {
        return jobAt(500, calls, kernels, options);
    }

    /// With so many calls of each thread in a millisecond, at most.
    private String[] jobAt(int perMilli, long calls, long kernels, String... options) throws IOException {
        return concat(concat(new String[] {"run", "--sim", "--name", "job"}, options), "--", Machine.program("traced"),
                machine.kernels(), Integer.toString(THREADS), Long.toString(calls), Long.toString(kernels),
                Integer.toString(perMilli));
    }

    private static String[] concat(String[] first, String... second) {
        String[] all = java.util.Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    /// A job that is ready to work, and waits for its line.
    private Process begin(String... arguments) throws Exception {
        Process job = machine.startSluice(arguments);
        BufferedReader out = job.inputReader();
        assertThat(out.readLine()).isEqualTo("ready");
        return job;
    }

    private static void go(Process job) throws IOException {
        job.getOutputStream().write('\n');
        job.getOutputStream().flush();
    }

    private Process record(String... options) throws Exception {
        long before = inRegion(LimitsView::epoch);
        Process recorder = machine.startSluice(concat(new String[] {"trace", "job"}, options));
        while (inRegion(LimitsView::epoch) == before) {
            assertThat(recorder.isAlive()).isTrue();
            Thread.sleep(5);
        }
        return recorder;
    }

    private long inRegion(ToLongFunction<LimitsView> field) {
        try (Region region = Region.openReadOnly(machine.runtimeDirectory().resolve("job.region"))) {
            return field.applyAsLong(region.limits());
        }
    }

    /// How often each function was called, the name of a kernel instead of that of its launch.
    private Map<String, Long> counts() {
        Map<String, Long> counts = new HashMap<>();
        long[] last = {Long.MIN_VALUE};
        try (TraceFolder trace = TraceFolder.open(folder)) {
            trace.forEach(event -> {
                assertThat(event.endNanos()).isGreaterThanOrEqualTo(last[0]);
                assertThat(event.beginNanos()).isLessThanOrEqualTo(event.endNanos());
                last[0] = event.endNanos();
                counts.merge(switch (event) {
                    case TraceEvent.Call call -> call.function();
                    case TraceEvent.Kernel kernel -> kernel.name();
                    default -> event.getClass().getSimpleName();
                }, 1L, Long::sum);
            }, TraceProgress.NONE);
        }
        return counts;
    }

    private TraceInfo info() {
        try (TraceFolder trace = TraceFolder.open(folder)) {
            return trace.info();
        }
    }

    @Test
    void shouldRecordEveryCallFromTheStart() throws Exception {
        Process job = begin(job(5000, KERNELS, "--trace", folder.toString()));
        go(job);
        Machine.Outcome outcome = Machine.await(job);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(counts()).containsEntry("cuCtxGetCurrent", THREADS * 5000L + 2).containsEntry("sluice_spin", THREADS * KERNELS)
                .containsEntry("cuMemAlloc_v2", (long) THREADS).containsEntry("cuMemcpyHtoD_v2", (long) THREADS)
                .containsEntry("cuInit", 1L).containsKey("Batch");
        TraceInfo info = info();
        assertThat(info.dropped()).isZero();
        assertThat(info.tenant()).isEqualTo("job");
        assertThat(info.threads()).hasSize(THREADS + 1);
        assertThat(info.gpus()).singleElement().satisfies(gpu -> assertThat(gpu.name()).isEqualTo("Sluice Simulated GPU"));
        assertThat(Files.getPosixFilePermissions(folder)).hasSize(3);
    }

    @Test
    void shouldBeReadByPerfettosOwnCode() throws Exception {
        Path engine = perfettoEngine();
        assumeTrue(Files.exists(engine.resolve("trace_processor.wasm")), "Perfetto's engine is not there; bench/perfetto/read.sh --fetch gets it");
        assumeTrue(isNodeThere(), "node is not installed");
        Process job = begin(job(2000, LIMITED, "--trace", folder.toString(), "--compute", "10%"));
        go(job);
        assertThat(Machine.await(job).status()).isZero();
        Path report = directory.resolve("report.json");
        Files.writeString(report, machine.sluice("report", folder.toString(), "--json").output());
        for (String name : List.of("job.pftrace", "job.json.gz")) {
            Path file = directory.resolve(name);
            machine.sluice("trace", "convert", folder.toString(), "-o", file.toString());
            Machine.Outcome read = Machine.await(new ProcessBuilder("node", "../bench/perfetto/read.mjs", engine.toString(), file.toString(), report.toString()).start());
            assertThat(read.status()).as(read.output() + read.errors()).isZero();
            assertThat(read.output()).contains("\"errors\": []", "\"outside\": 0", "\"differences\": []", "\"unended\": 0");
        }
    }

    private static Path perfettoEngine() {
        String given = System.getenv("SLUICE_PERFETTO_ENGINE");
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getProperty("user.home") + "/.cache");
        return given != null ? Path.of(given) : Path.of(cache, "sluice", "perfetto-55.3");
    }

    private static boolean isNodeThere() throws Exception {
        try {
            return new ProcessBuilder("node", "--version").start().waitFor() == 0;
        } catch (IOException missing) {
            return false;
        }
    }

    @Test
    void shouldBecomeATraceThatPerfettoUnderstands() throws Exception {
        Process job = begin(job(2000, LIMITED, "--trace", folder.toString(), "--compute", "10%"));
        go(job);
        assertThat(Machine.await(job).status()).isZero();
        Path file = directory.resolve("job.pftrace");
        Machine.Outcome converted = machine.sluice("trace", "convert", folder.toString(), "-o", file.toString());
        assertThat(converted.output()).contains("events of 3 threads, none dropped");
        PerfettoFile trace = PerfettoFile.read(file);
        Map<String, Long> counts = counts();
        long calls = counts.entrySet().stream().filter(entry -> entry.getKey().matches("cu.*|sluice_spin")).mapToLong(Map.Entry::getValue).sum();
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("call"))).hasSize((int) calls)
                .allMatch(slice -> slice.depth() == 0);
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("kernel"))).hasSize((int) (THREADS * LIMITED))
                .allMatch(slice -> slice.name().equals("sluice_spin") && slice.details().get("grid").equals("4x2x1"));
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("wait"))).isNotEmpty().allMatch(slice -> slice.depth() == 1);
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("gpu"))).isNotEmpty();
        assertThat(trace.slices.stream().filter(slice -> slice.category().equals("turn"))).isNotEmpty();
        assertThat(trace.counts).isNotEmpty().anyMatch(count -> count.value() >= 4 << 20);
        assertThat(trace.tracks.values()).filteredOn(track -> track.kind().equals("thread")).hasSize(THREADS + 1);
    }

    @Test
    void shouldLoseNothingOfAJobThatRuns() throws Exception {
        Process job = begin(jobAt(200, MANY / THREADS, KERNELS));
        Process recorder = record("--for", "5m", "-o", folder.toString());
        go(job);
        assertThat(Machine.await(job).status()).isZero();
        Machine.Outcome outcome = Machine.await(recorder);
        assertThat(outcome.output()).contains(", none dropped in ").contains("then the tenant ended");
        Map<String, Long> counts = counts();
        assertThat(counts.get("cuCtxGetCurrent")).isBetween(MANY, MANY + 1);
        assertThat(counts).containsEntry("sluice_spin", THREADS * KERNELS);
        assertThat(machine.runtimeDirectory().toFile().list((in, name) -> name.startsWith("trace-"))).isEmpty();
    }

    /// Events that a ring has no room for, from the moment at which nobody takes them away.
    @Test
    @Fault(kind = Fault.Kind.STOP, of = "the recorder of a trace")
    void shouldCountWhatARecorderThatWasStoppedMissed() throws Exception {
        Process job = begin(job(MANY / THREADS, 0));
        Process recorder = record("--for", "5m", "-o", folder.toString());
        machine.plain("kill", "-STOP", Long.toString(recorder.pid()));
        go(job);
        assertThat(Machine.await(job).status()).isZero();
        machine.plain("kill", "-CONT", Long.toString(recorder.pid()));
        assertThat(Machine.await(recorder).output()).contains("Some events were dropped");
        assertThat(info().threads().stream().filter(thread -> thread.tid() != thread.pid())).hasSize(THREADS).allSatisfy(thread -> {
            assertThat(thread.dropped()).isPositive();
            assertThat(thread.events() + thread.dropped()).isEqualTo(MANY / THREADS + 1);
        });
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "a job that is traced")
    void shouldKeepWhatWasRecordedOfAJobThatWasKilled() throws Exception {
        Process job = begin(job(100_000_000, KERNELS));
        Process recorder = record("--for", "5m", "-o", directory.resolve("job.json").toString());
        go(job);
        Thread.sleep(300);
        job.destroyForcibly().waitFor();
        Machine.Outcome outcome = Machine.await(recorder);
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        assertThat(outcome.output()).contains("then the tenant ended");
        assertThat(Files.readString(directory.resolve("job.json"))).contains("\"cuCtxGetCurrent\"").endsWith("]}\n");
        assertThat(directory.toFile().list((in, name) -> name.startsWith(".sluice-trace"))).isEmpty();
    }

    @Test
    void shouldWriteWhatThereIsWhenItIsInterrupted() throws Exception {
        Process job = begin(jobAt(20, 100_000_000, 0));
        Process recorder = record("--for", "5m", "-o", directory.resolve("job.pftrace.gz").toString());
        go(job);
        Machine.Outcome second = machine.sluice("trace", "job");
        assertThat(second.errors()).startsWith("sluice: tenant 'job' is being traced already, to ");
        machine.plain("kill", "-TERM", Long.toString(recorder.pid())); // SIGINT is ignored by what a shell starts in the background
        assertThat(Machine.await(recorder).output()).contains("job.pftrace.gz: ");
        assertThat(directory.resolve("job.pftrace.gz")).isNotEmptyFile();
        assertThat(inRegion(LimitsView::trace)).isZero();
    }

    @Test
    void shouldNotMixTwoTraces() throws Exception {
        Files.createDirectory(folder);
        Files.writeString(folder.resolve("note"), "mine");
        Machine.Outcome outcome = machine.sluice(job(1, 0, "--trace", folder.toString()));
        assertThat(outcome.status()).isEqualTo(125);
        assertThat(outcome.errors()).isEqualTo("sluice: the folder " + folder + " is not empty; choose another for the trace, or empty it\n");
    }
}
