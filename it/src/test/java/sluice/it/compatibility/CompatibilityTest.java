package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Region;

/// Programs that were set up for an older tool run unchanged, with its file names and its switches.
class CompatibilityTest extends OnMachine {
    private static final long GIB = 1L << 30;
    private static final long WRAPPER_DEFAULT = 4_217_928_960L;
    private static final long STEP = 64L << 20;

    @BeforeEach
    void start() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "0");
    }

    @ParameterizedTest
    @CsvSource({"2Gi, 32", "1GB, 16", "1.5g, 24", "512m, 8", "1073741824, 16"})
    void shouldReadHamiSizesAsPeopleMeanThem(String size, int pieces) throws Exception {
        var outcome = hog("libvgpu.so", Map.of("CUDA_DEVICE_MEMORY_LIMIT", size));
        assertThat(outcome.output()).contains("got " + pieces + " " + pieces * STEP + " 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"libsluice.so", "libvgpu.so", "libcuda2.so", "libcuinterpose.so"})
    void shouldReadHamiVariablesUnderAnyName(String library) throws Exception {
        var outcome = hog(library, Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1g", "SLUICE_LOG", "info"));
        assertThat(outcome.output()).contains("total " + GIB).contains("got 16 " + GIB + " 2");
        assertThat(outcome.errors()).contains("limits: HAMi's switches").doesNotContain("alloc ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1,0", "GPU-736c7569-6365-2d73-696d-2d6770750001"})
    void shouldNumberHamiLimitsAsNvidiaSmiDoes(String devices) throws Exception {
        machine.with("SLUICE_SIM_GPUS", "2");
        var outcome = hog("libvgpu.so", Map.of("CUDA_DEVICE_MEMORY_LIMIT_0", "1g", "CUDA_DEVICE_MEMORY_LIMIT_1", "2g",
                "CUDA_VISIBLE_DEVICES", devices));
        assertThat(outcome.output()).contains("got 32 " + 2 * GIB + " 2");
    }

    @ParameterizedTest
    @CsvSource({
        "libsluice.so, SLUICE_COMPUTE, 12.5%, cap 125 turns 0 weight 0 priority 0 exclusive 0 turn 0",
        "libsluice.so, SLUICE_WEIGHT, 3, cap 0 turns 1 weight 3 priority 0 exclusive 0 turn 0",
        "libsluice.so, SLUICE_TURN, 500us, cap 0 turns 1 weight 0 priority 0 exclusive 0 turn 500",
        "libvgpu.so, CUDA_DEVICE_SM_LIMIT, 30, cap 300 turns 0 weight 0 priority 0 exclusive 0 turn 0",
        "libsluice.so, CUDA_DEVICE_SM_LIMIT_0, 100, cap 0 turns 0 weight 0 priority 0 exclusive 0 turn 0",
        "libsluice.so, CUDA_TASK_PRIORITY, 0, cap 0 turns 1 weight 0 priority 1 exclusive 0 turn 0",
        "cuda_override.so, SLUICE_LOG, warn, cap 0 turns 1 weight 0 priority 0 exclusive 1 turn 1000000",
        "libsluice.so, CUDA_OVERRIDE_KERNEL_N_SYNC, 3, cap 0 turns 1 weight 0 priority 0 exclusive 1 turn 1000000",
    })
    void shouldWriteSharesOfGpuTimeIntoTheRegion(String library, String variable, String value, String expected) throws Exception {
        assertThat(hog(library, Map.of(variable, value, "SLUICE_TENANT", "job"), "--count", "1").output()).contains("got 1 ");
        try (var region = Region.openReadOnly(machine.runtimeDirectory().resolve("job.region"))) {
            var limits = region.limits();
            assertThat("cap %d turns %d weight %d priority %d exclusive %d turn %d".formatted(limits.computePermille(0),
                    limits.turns(), limits.weight(), limits.priority(), limits.exclusive(), limits.turnMicros()))
                    .isEqualTo(expected);
        }
    }

    @Test
    void shouldMakeEachProcessOfTheLockerATenantOfItsOwn() throws Exception {
        var settings = Map.of("LD_PRELOAD", Machine.link("cuda_override.so"), "CUDA_OVERRIDE_KERNEL_N_SYNC", "3");
        var shell = machine.preloaded(settings, "sh", "-c",
                Machine.program("hog") + " --count 1; ls " + machine.runtimeDirectory() + "; " + Machine.program("hog") + " --count 1");
        assertThat(shell.lines().stream().filter(line -> line.startsWith("auto-"))).hasSize(1);
        assertThat(Files.list(machine.runtimeDirectory()).filter(file -> file.getFileName().toString().startsWith("auto-")))
                .singleElement()
                .asString()
                .doesNotContain(shell.lines().stream().filter(line -> line.startsWith("auto-")).findFirst().orElseThrow());
    }

    @Test
    void shouldShareOneQuotaAmongThoseWhoNameTheSameCache() throws Exception {
        var cache = directory.resolve("pod.cache");
        var settings = Map.of("LD_PRELOAD", Machine.link("libvgpu.so"), "CUDA_DEVICE_MEMORY_LIMIT", "1g",
                "CUDA_DEVICE_MEMORY_SHARED_CACHE", cache.toString());
        var others = new LinkedHashMap<>(settings);
        others.put("CUDA_DEVICE_MEMORY_SHARED_CACHE", cache + "2");
        var jobs = new ArrayList<Process>();
        for (int i = 0; i < 2; i++) {
            jobs.add(machine.startPreloaded(settings, Machine.program("hog"), "--step", "16m", "--hold", "600000"));
        }
        Process stranger = machine.startPreloaded(others, Machine.program("hog"), "--step", "16m", "--hold", "600000");
        long pieces = 0;
        for (Process job : jobs) {
            pieces += Machine.pieces(job, 1);
        }
        assertThat(pieces).isEqualTo(64);
        assertThat(Machine.pieces(stranger, 1)).isEqualTo(64);
        assertThat(cache).doesNotExist();
    }

    @Test
    void shouldPassEverythingWithControlDisabled() throws Exception {
        var settings = Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1g", "CUDA_DISABLE_CONTROL", "true");
        var outcome = hog("libvgpu.so", settings, "--count", "32");
        assertThat(outcome.output()).contains("got 32 " + 2 * GIB + " 0").doesNotContain("total " + GIB + " ");
        assertThat(machine.runtimeDirectory()).isEmptyDirectory();
    }

    @Test
    void shouldLogAsMuchAsHamiWasToldTo() throws Exception {
        var quiet = hog("libvgpu.so", Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1g", "LIBCUDA_LOG_LEVEL", "0"));
        assertThat(quiet.errors()).isEmpty();
        var loud = hog("libvgpu.so", Map.of("CUDA_DEVICE_MEMORY_LIMIT", "1g", "LIBCUDA_LOG_LEVEL", "4"));
        assertThat(loud.errors()).contains("takes part in tenant").contains("CUDA device 0 is GPU 0")
                .contains(STEP + " bytes taken").contains("was refused");
    }

    @Test
    void shouldGiveTheWrapperItsDefault() throws Exception {
        assertThat(hog("libcuda2.so", Map.of()).output()).contains("total " + WRAPPER_DEFAULT)
                .contains("got " + WRAPPER_DEFAULT / STEP + " ");
        assertThat(hog("libcuda3.so", Map.of()).output()).contains("total " + (WRAPPER_DEFAULT - 500_000_000))
                .contains("got " + (WRAPPER_DEFAULT - 500_000_000) / STEP + " ");
        assertThat(hog("libsluice.so", Map.of(), "--count", "80").output()).contains("got 80 ");
    }

    @Test
    void shouldShareTheWrappersDefaultWithinOneCommandOnly() throws Exception {
        var settings = Map.of("LD_PRELOAD", Machine.link("libcuda2.so"));
        String hog = Machine.program("hog") + " --hold 600000";
        Process stranger = machine.startPreloaded(settings, "sh", "-c", hog);
        Process shell = machine.startPreloaded(settings, "sh", "-c", hog + " & " + hog + " & wait");
        assertThat(Machine.pieces(shell, 2)).isEqualTo(WRAPPER_DEFAULT / STEP);
        assertThat(Machine.pieces(stranger, 1)).isEqualTo(WRAPPER_DEFAULT / STEP);
    }

    @ParameterizedTest
    @CsvSource({"libsluice.so, 1073741824", "libcuda2.so, 1073741824", "libcuda2.so, 1g", "libcuda3.so, 1573741824"})
    void shouldRefuseAsTheWrapperDid(String library, String quota) throws Exception {
        var outcome = hog(library, Map.of("WRAPPER_MAX_MEMORY", quota));
        assertThat(outcome.output()).as("standard output is the program's own").startsWith("total ");
        assertThat(outcome.output()).contains("got 16 " + GIB + " 2");
        assertThat(outcome.errors()).isEqualTo("alloc %d failed, total_mem %d, quota %s%n"
                .formatted(STEP, GIB, quota.equals("1g") ? "1073741824" : quota));
    }

    @Test
    void shouldRefuseInvalidValuesWithAMessage() throws Exception {
        var outcome = hog("libcuda2.so", Map.of("WRAPPER_MAX_MEMORY", "lots"), "--count", "80");
        assertThat(outcome.errors()).contains("WRAPPER_MAX_MEMORY=lots").contains("without limits");
        assertThat(outcome.output()).contains("got 80 ");
        var strict = hog("libcuda2.so", Map.of("WRAPPER_MAX_MEMORY", "lots", "SLUICE_ON_ERROR", "fail"));
        assertThat(strict.output() + strict.errors()).contains("800");
    }

    @Test
    void shouldReadTheAlnairWorkspace() throws Exception {
        Files.writeString(directory.resolve("limits"), "vmem:" + GIB);
        var settings = Map.of("ALNAIR_ID", "ab1de", "ALNAIR_WORKSPACE_PATH", directory.toString());
        assertThat(hog("libcuinterpose.so", settings).output()).contains("total " + GIB).contains("got 16 " + GIB + " 2");
        assertThat(machine.runtimeDirectory().resolve("ab1de.region")).exists();
        Files.delete(directory.resolve("limits"));
        Files.delete(machine.runtimeDirectory().resolve("ab1de.region"));
        var unlimited = hog("libcuinterpose.so", settings, "--count", "32");
        assertThat(unlimited.output()).contains("got 32 " + 2 * GIB + " 0");
        assertThat(unlimited.errors().lines()).hasSize(2).first().asString().contains("limits").contains("memory has no limit");
    }

    @Test
    void shouldGoOnWithoutTheAlnairServer() throws Exception {
        Files.writeString(directory.resolve("limits"), "vmem:" + GIB);
        var settings = Map.of("ALNAIR_ID", "ab1de", "ALNAIR_WORKSPACE_PATH", directory.toString(), "ALNAIR_SOCKET", directory.resolve("none").toString());
        var outcome = hog("libcuinterpose.so", settings);
        assertThat(outcome.errors()).isEqualTo("server is down.\n");
        assertThat(outcome.output()).startsWith("total ").contains("got 16 " + GIB + " 2");
    }

    @ParameterizedTest
    @CsvSource({"libcuda2.so, libcuda2.so.10.1, 4217928960", "libcuda3.so, libcuda3.so.10.1, 3717928960"})
    void shouldKnowTheWrapperByANameWithAVersion(String library, String name, long quota) throws Exception {
        Path versioned = Files.createSymbolicLink(directory.resolve(name), Path.of(Machine.link(library)).toRealPath());
        var outcome = machine.preloaded(Map.of("LD_PRELOAD", versioned.toString()), Machine.program("hog"));
        assertThat(outcome.output()).contains("total " + quota).contains("got " + quota / STEP + " ");
    }

    @Test
    void shouldWaitForASiblingWhenAsked() throws Exception {
        var settings = Map.of("SLUICE_MEMORY", "1g", "SLUICE_TENANT", "job", "SLUICE_ON_OOM", "wait:30s");
        Process first = machine.startPreloaded(settings, Machine.program("hog"), "--count", "16", "--hold", "1000");
        assertThat(first.inputReader().readLine()).startsWith("total ");
        assertThat(first.inputReader().readLine()).startsWith("got 16 ");
        var second = machine.preloaded(settings, Machine.program("hog"), "--count", "16");
        assertThat(second.output()).contains("got 16 " + GIB + " 0");
        first.waitFor();
    }

    private Machine.Outcome hog(String library, Map<String, String> settings, String... options) throws Exception {
        var all = new LinkedHashMap<>(settings);
        all.put("LD_PRELOAD", Machine.link(library));
        var command = new ArrayList<>(List.of(Machine.program("hog")));
        command.addAll(List.of(options));
        return machine.preloaded(all, command.toArray(String[]::new));
    }
}
