package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.it.compatibility.AlnairFiles.Event;
import sluice.it.compatibility.AlnairFiles.Function;
import sluice.it.compatibility.AlnairFiles.Generation;
import sluice.it.compatibility.AlnairFiles.Metrics;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Alnair's profiler and the figures of its interposer, as their readers expect them; and the old monitors.
class ProfileTest extends OnMachine {
    private static final long MIB = 1L << 20;
    private static final List<String> FIRST_NAMES = List.of(
            "cuInit", "cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemcpyH2D", "cuMemcpyD2H", "cuGetProcAddress");
    private static final List<String> LATER_NAMES = Stream.concat(
            FIRST_NAMES.stream(), Stream.of("cuMemcpyH2D_ASYNC", "cudaMemcpy", "cudaMemcpyAsync")).toList();

    private Path profile;

    @BeforeEach
    void prepare() throws Exception {
        profile = directory.resolve("profile");
    }

    @ParameterizedTest
    @EnumSource(Generation.class)
    void shouldWriteTheFilesOfEachGeneration(Generation generation) throws Exception {
        long before = System.currentTimeMillis() * 1_000_000;
        run(generation, 30);
        long after = (System.currentTimeMillis() + 1) * 1_000_000;

        Metrics metrics = AlnairFiles.metrics(profile.resolve("metrics.log"), generation);
        assertThat(metrics.names()).isEqualTo(generation == Generation.V1 ? FIRST_NAMES : LATER_NAMES);
        assertThat(counts(metrics)).containsAllEntriesOf(Map.of("cuInit", 1L, "cuMemAlloc", 30L, "cuMemFree", 30L,
                "cuLaunchKernel", 60L, "cuMemcpyH2D", 30L, "cuMemcpyD2H", 30L, "cuGetProcAddress", 0L));
        if (generation != Generation.V1) {
            assertThat(counts(metrics))
                    .containsAllEntriesOf(Map.of("cuMemcpyH2D_ASYNC", 30L, "cudaMemcpy", 120L, "cudaMemcpyAsync", 120L));
            assertThat(metrics.usedBytes()).as("all is given back").isZero();
        }

        List<Event> timeline = AlnairFiles.timeline(profile.resolve("timeline.log"), generation);
        assertThat(timeline).allSatisfy(event -> assertThat(event.startNanos()).isBetween(before, after));
        assertThat(timeline).isSortedAccordingTo(Comparator.comparingLong(event -> event.startNanos() / 1_000_000));
        assertThat(timeline.stream().collect(Collectors.groupingBy(Event::name, Collectors.counting()))).isEqualTo(
                generation == Generation.V1
                        ? Map.of("cuInit", 1L, "cuMemcpyH2D", 30L, "cuMemcpyD2H", 30L)
                        : Map.of("cuInit", 1L, "cuMemAlloc", 30L, "cuMemFree", 30L, "cuMemcpyH2D", 30L, "cuMemcpyD2H", 30L,
                                "cudaMemcpy", 60L, "cudaMemcpyAsync", 120L));
        for (String name : List.of("cuInit", "cuMemcpyH2D", "cuMemcpyD2H")) {
            Function sum = metrics.of(name);
            long micros = timeline.stream().filter(event -> event.name().equals(name)).mapToLong(Event::burstMicros).sum();
            assertThat(sum.burstMicros()).as(name).isBetween(micros, micros + sum.count());
        }
    }

    @Test
    void shouldSayBytesAndKindsOfCopies() throws Exception {
        run(Generation.V2, 2);
        var events = AlnairFiles.timeline(profile.resolve("timeline.log"), Generation.V2).stream()
                .skip(1).map(event -> event.name() + " " + event.bytes() + " " + event.kind()).toList();
        var round = List.of("cuMemAlloc 1048576 -1", "cuMemcpyH2D 1048576 -1", "cuMemcpyD2H 1048576 -1", "cudaMemcpy 524288 3",
                "cudaMemcpy 524288 4", "cudaMemcpyAsync 1048576 1", "cudaMemcpyAsync 1048576 2", "cudaMemcpyAsync 524288 3",
                "cudaMemcpyAsync 524288 4", "cuMemFree 1048576 -1");
        assertThat(events).isEqualTo(Stream.concat(round.stream(), round.stream()).toList());
    }

    @Test
    void shouldAddUpTheProcessesOfACommand() throws Exception {
        var outcome = run(Generation.V1_5, 40, "--processes", "4", "--pause", "3000");
        Metrics all = AlnairFiles.metrics(profile.resolve("metrics.log"), Generation.V1_5);
        var sums = new LinkedHashMap<String, Long>();
        var events = new ArrayList<Event>();
        for (long pid : pids(outcome)) {
            Metrics own = AlnairFiles.metrics(profile.resolve("metrics-" + pid + ".log"), Generation.V1_5);
            own.functions().forEach(function -> sums.merge(function.name(), function.count(), Long::sum));
            assertThat(own.of("cuMemAlloc").count()).isEqualTo(40);
            events.addAll(AlnairFiles.timeline(profile.resolve("timeline-" + pid + ".log"), Generation.V1_5));
        }
        assertThat(counts(all)).isEqualTo(sums).containsEntry("cuMemAlloc", 160L).containsEntry("cuInit", 4L);
        assertThat(AlnairFiles.timeline(profile.resolve("timeline.log"), Generation.V1_5)).containsExactlyInAnyOrderElementsOf(events);
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "a job that is profiled")
    void shouldKeepTheSumsOfAKilledProcess() throws Exception {
        String hold = "%s %s 20 --end kill; %s %s 5".formatted(program(), machine.kernels(), program(), machine.kernels());
        var outcome = machine.preloaded(settings(Generation.V1), "sh", "-c", hold);
        assertThat(outcome.status()).isZero();
        assertThat(counts(AlnairFiles.metrics(profile.resolve("metrics.log"), Generation.V1)))
                .containsEntry("cuMemAlloc", 25L).containsEntry("cuLaunchKernel", 50L);
        assertThat(AlnairFiles.timeline(profile.resolve("timeline.log"), Generation.V1)).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(Generation.class)
    void shouldNeverShowHalfAFileWhileItRuns(Generation generation) throws Exception {
        Process process = machine.startPreloaded(settings(generation), program(), machine.kernels(), "0", "--processes", "3", "--pause", "5000");
        var seen = new ArrayList<Long>();
        while (process.isAlive()) {
            if (Files.exists(profile.resolve("metrics.log"))) {
                seen.add(AlnairFiles.metrics(profile.resolve("metrics.log"), generation).of("cuLaunchKernel").count());
            }
            if (seen.stream().distinct().count() > 3) {
                process.getOutputStream().close();
            }
            Thread.sleep(2);
        }
        var outcome = Machine.await(process);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(seen).as("grows while it runs").isSorted();
        assertThat(AlnairFiles.metrics(profile.resolve("metrics.log"), generation).of("cuLaunchKernel").count())
                .isEqualTo(2 * numbers(outcome, "rounds ").stream().mapToLong(Long::longValue).sum());
    }

    /// As long as another process writes, or stands still while it does.
    @Test
    void shouldNotWriteOverWhatAnotherWrites() throws Exception {
        Files.createDirectory(profile);
        Process other = machine.startPreloaded(Map.of("LD_PRELOAD", ""), "flock", profile.toString(), "sh", "-c", "echo locked; sleep 600");
        Machine.awaitLine(other, "locked");
        var outcome = machine.preloaded(settings(Generation.V1), program(), machine.kernels(), "20");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.errors()).contains("another process keeps " + profile + " locked");
        assertThat(profile.resolve("metrics.log")).doesNotExist();
        assertThat(AlnairFiles.timeline(profile.resolve("timeline.log"), Generation.V1)).hasSize(41);
    }

    @Test
    void shouldStartNoThread() throws Exception {
        assertThat(threads(run(Generation.V2, 10))).as("one thread for pauses, as with a quota alone")
                .isEqualTo(threads(machine.preloaded(Map.of("SLUICE_MEMORY", "8g"), program(), machine.kernels(), "10")));
    }

    @Test
    void shouldUseTheFolderTestUnderItsOldName() throws Exception {
        var settings = Map.of("LD_PRELOAD", Machine.link("libpfinterpose.so"));
        var nowhere = machine.preloaded(settings, program(), machine.kernels(), "1");
        assertThat(nowhere.status()).isZero();
        assertThat(nowhere.errors().lines()).singleElement().asString().contains("no profile is written").contains("PFLOG");
        assertThat(directory.resolve("test")).doesNotExist();

        Files.createDirectory(directory.resolve("test"));
        var outcome = machine.preloaded(settings, program(), machine.kernels(), "1");
        assertThat(outcome.errors()).isEmpty();
        assertThat(counts(AlnairFiles.metrics(directory.resolve("test/metrics.log"), Generation.V1))).containsEntry("cuMemFree", 1L);
    }

    @Test
    void shouldLeaveProgramsWithoutCudaAlone() throws Exception {
        assertThat(machine.preloaded(settings(Generation.V1), "true").status()).isZero();
        assertThat(profile).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/proc/none", "/dev/null", "/proc", "file", "a/b/c"})
    void shouldNotHarmAProgramThatCannotBeProfiled(String folder) throws Exception {
        Files.writeString(directory.resolve("file"), "mine");
        var outcome = machine.preloaded(Map.of("PFLOG", folder), program(), machine.kernels(), "5");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.errors().lines()).isNotEmpty().allSatisfy(line -> assertThat(line).startsWith("sluice: ").contains("profile"));
        assertThat(directory.resolve("file")).hasContent("mine");
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the limit on open files of a program")
    void shouldStopBelowTheLimitOnFilesOfTheProgram() throws Exception {
        var outcome = machine.preloaded(
                settings(Generation.V2), program(), machine.kernels(), "200", "--pause", "500", "--limit", "8192");
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        assertThat(outcome.errors().lines()).singleElement().asString().contains("timeline").contains("profile is not complete");
        assertThat(AlnairFiles.timeline(profile.resolve("timeline.log"), Generation.V2)).isNotEmpty();
        assertThat(profile.resolve("timeline.log").toFile().length()).isLessThanOrEqualTo(8192);
        assertThat(counts(AlnairFiles.metrics(profile.resolve("metrics.log"), Generation.V2))).containsEntry("cuMemFree", 200L);
    }

    @Test
    void shouldSayWhichFormatsThereAre() throws Exception {
        var settings = Map.of("PFLOG", profile.toString(), "SLUICE_PROFILE_FORMAT", "v3");
        var outcome = machine.preloaded(settings, program(), machine.kernels(), "1");
        assertThat(outcome.errors().lines()).singleElement().asString().contains("SLUICE_PROFILE_FORMAT=v3").contains("v1.5");
        assertThat(AlnairFiles.metrics(profile.resolve("metrics.log"), Generation.V1).names()).isEqualTo(FIRST_NAMES);
    }

    @Test
    void shouldProfileWhatRunsUnderSluice() throws Exception {
        machine.with("PFLOG", profile.toString());
        assertThat(machine.sluice("run", "--memory", "1g", "--sim", "--", program(), machine.kernels(), "3").status()).isZero();
        assertThat(counts(AlnairFiles.metrics(profile.resolve("metrics.log"), Generation.V1))).containsEntry("cuMemAlloc", 3L);
    }

    @Test
    void shouldTellTheExporterInTheWorkspace() throws Exception {
        Files.writeString(directory.resolve("limits"), "vmem:" + 8192 * MIB);
        var settings = Map.of("ALNAIR_ID", "ab1de", "ALNAIR_WORKSPACE_PATH", directory.toString(),
                "ALNAIR_VGPU_COMPUTE_PERCENTILE", "50", "LD_PRELOAD", Machine.link("libcuinterpose.so"));
        Process process = machine.startPreloaded(settings, program(), machine.kernels(), "1", "--hold", "300");
        var outcome = Machine.await(process);
        assertThat(outcome.status()).as(outcome.errors()).isZero();
        var last = AlnairFiles.workspace(directory.resolve("metrics.log"));
        assertThat(last.pid()).isEqualTo(pids(outcome).getFirst());
        assertThat(last.kernels()).isEqualTo(2);
        assertThat(last.usedBytes()).isZero();
        assertThat(last.tokens()).isBetween(0L, 15_000_000L);
    }

    @Test
    void shouldTellTheExporterOfMoreThanTwoGigabytes() throws Exception {
        var settings = Map.of("ALNAIR_ID", "ab1de", "ALNAIR_WORKSPACE_PATH", directory.toString());
        Process process = machine.startPreloaded(settings, Machine.program("hog"), "--step", "1g", "--count", "3", "--hold", "500");
        var outcome = Machine.await(process);
        assertThat(outcome.output()).contains("got 3 ");
        assertThat(AlnairFiles.workspace(directory.resolve("metrics.log")))
                .isEqualTo(new AlnairFiles.Workspace(process.pid(), 0, 3072 * MIB, 2_147_483_647));
    }

    @Test
    void shouldMonitorAsTheOldScriptsDid() throws Exception {
        machine.with("LD_LIBRARY_PATH", Machine.SIM.toString()).with("SLUICE_SIM_GPUS", "2");
        Process process = machine.startPreloaded(Map.of(), Machine.program("hog"), "--step", "64m", "--count", "2", "--device", "1", "--hold", "60000");
        Machine.awaitLine(process, "got ");
        var memory = machine.sluice("monitor", "mem", "--count", "2", "--every", "10ms");
        assertThat(memory.output()).as(memory.errors()).isEqualTo("0\n134217728\n".repeat(2));
        assertThat(machine.sluice("monitor", "util", "--count", "1").lines()).hasSize(2)
                .allSatisfy(line -> assertThat(Integer.parseInt(line)).isBetween(0, 100));
    }

    private static String program() {
        return Machine.program("profiled");
    }

    private Map<String, String> settings(Generation generation) {
        var settings = new LinkedHashMap<String, String>();
        settings.put("PFLOG", profile.toString());
        if (generation != Generation.V1) {
            settings.put("SLUICE_PROFILE_FORMAT", generation.selector);
        }
        return settings;
    }

    private Machine.Outcome run(Generation generation, int rounds, String... options) throws Exception {
        var command = new ArrayList<>(List.of(program(), machine.kernels(), "" + rounds));
        command.addAll(List.of(options));
        var outcome = machine.preloaded(settings(generation), command.toArray(String[]::new));
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(outcome.errors()).isEmpty();
        return outcome;
    }

    private static Map<String, Long> counts(Metrics metrics) {
        var counts = new LinkedHashMap<String, Long>();
        metrics.functions().forEach(function -> counts.put(function.name(), function.count()));
        return counts;
    }

    private static List<Long> pids(Machine.Outcome outcome) {
        return numbers(outcome, "pid ");
    }

    private static List<Long> numbers(Machine.Outcome outcome, String word) {
        return outcome.lines().stream().filter(line -> line.startsWith(word)).map(line -> Long.parseLong(line.substring(word.length()))).toList();
    }

    private static List<String> threads(Machine.Outcome outcome) {
        return outcome.lines().stream().filter(line -> line.startsWith("threads ")).toList();
    }
}
