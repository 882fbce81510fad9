package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/// NVML, the management library: what the machine says about its GPUs, from outside of any CUDA program.
public final class Nvml {
    public static final String LIBRARY = "libnvidia-ml.so.1";

    private static final int SUCCESS = 0;
    private static final int NOT_SUPPORTED = 3;
    private static final int NO_PERMISSION = 4;
    private static final int INSUFFICIENT_SIZE = 7;
    private static final int FUNCTION_NOT_FOUND = 13;
    private static final int GPU_SENSOR = 0;
    private static final int TEXT_BYTES = 96;
    private static final long MEMORY_BYTES = 40;
    private static final int MEMORY_VERSION = (int) MEMORY_BYTES | 2 << 24;
    private static final long MEMORY_V1_BYTES = 24;
    private static final long PROCESS_BYTES = 24;
    private static final long PROCESS_V1_BYTES = 16;

    record Entries(
            @Entry(takes = "") MethodHandle nvmlInit_v2,
            @Entry(takes = "PI") MethodHandle nvmlSystemGetDriverVersion,
            @Entry(takes = "P") MethodHandle nvmlDeviceGetCount_v2,
            @Entry(takes = "IP") MethodHandle nvmlDeviceGetHandleByIndex_v2,
            @Entry(takes = "LPI") MethodHandle nvmlDeviceGetUUID,
            @Entry(takes = "LPI") MethodHandle nvmlDeviceGetName,
            @Entry(takes = "LP") MethodHandle nvmlDeviceGetMemoryInfo,
            @Entry(takes = "LP") MethodHandle nvmlDeviceGetMemoryInfo_v2,
            @Entry(takes = "LP") MethodHandle nvmlDeviceGetUtilizationRates,
            @Entry(takes = "LIP") MethodHandle nvmlDeviceGetTemperature,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetComputeRunningProcesses,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetComputeRunningProcesses_v2,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetComputeRunningProcesses_v3) {}

    public record Gpu(int index, String uuid, String name, long totalBytes, long freeBytes, long usedBytes) {}

    /// One that the driver lists and does not reach, such as one that fell off the bus.
    ///
    /// @param uuid as it was while it answered, as the name and the bytes are; else made up from its number
    public record Silent(int index, String uuid, String name, long totalBytes, Silence silence) {}

    /// @param gpus   those that answer
    /// @param silent those that do not
    public record Seen(List<Gpu> gpus, List<Silent> silent) {}

    public record GpuMemory(long totalBytes, long freeBytes, long usedBytes) {}

    /// `usedBytes` is negative when the driver does not tell.
    public record GpuProcess(long pid, long usedBytes) {}

    /// NVML refused an answer that is needed.
    public static final class Refused extends IllegalStateException {
        private static final long serialVersionUID = 1;

        private final int status;

        Refused(String call, int status) {
            super(call + " answered NVML error " + status);
            this.status = status;
        }

        public int status() {
            return status;
        }
    }

    private final Symbols symbols;
    private final Entries entries;
    private final Map<Integer, Gpu> answered = new ConcurrentHashMap<>();

    private Nvml(Symbols symbols) {
        this.symbols = symbols;
        entries = symbols.bind(Entries.class);
    }

    /// Empty when the library is missing or finds no driver to talk to.
    public static Optional<Nvml> open() {
        return Symbols.library(LIBRARY)
                .map(library -> new Symbols((symbol, since) -> library.find(symbol), FUNCTION_NOT_FOUND))
                .map(Nvml::new)
                .filter(nvml -> Calls.status(() -> (int) nvml.entries.nvmlInit_v2.invokeExact()) == SUCCESS);
    }

    Symbols symbols() {
        return symbols;
    }

    /// The address that a program gets for a symbol, to see whose it is.
    public Optional<MemorySegment> address(String symbol) {
        return symbols.finder().find(symbol, 0);
    }

    public String driverVersion() {
        return text("nvmlSystemGetDriverVersion",
                out -> (int) entries.nvmlSystemGetDriverVersion.invokeExact(out, TEXT_BYTES));
    }

    public int count() {
        CallResult count = Calls.intFrom(out -> (int) entries.nvmlDeviceGetCount_v2.invokeExact(out));
        check("nvmlDeviceGetCount_v2", count.status());
        return (int) count.value();
    }

    /// Those that answer.
    public List<Gpu> gpus() {
        return seen().gpus();
    }

    /// The UUIDs of GPUs, by their numbers.
    public static SortedMap<Integer, String> uuids(List<Gpu> gpus) {
        SortedMap<Integer, String> uuids = new TreeMap<>();
        gpus.forEach(gpu -> uuids.put(gpu.index(), gpu.uuid()));
        return uuids;
    }

    /// One that is silent does not hide the others. Those that this process may not use are left out, as is one that is asked for what it cannot tell.
    public Seen seen() {
        List<Gpu> gpus = new ArrayList<>();
        List<Silent> silent = new ArrayList<>();
        int count = count();
        for (int index = 0; index < count; index++) {
            try {
                Gpu gpu = gpu(index);
                answered.put(index, gpu);
                gpus.add(gpu);
            } catch (Refused e) {
                boolean isUnreachable = !handle(index).ok() && e.status() != NO_PERMISSION;
                if (isUnreachable || Silence.isCertain(e.status())) {
                    silent.add(silent(index, Silence.of(e.status())));
                }
            }
        }
        return new Seen(gpus, silent);
    }

    private Silent silent(int index, Silence silence) {
        Gpu before = answered.get(index);
        return before == null
                ? new Silent(index, "unknown-" + index, "unknown", 0, silence)
                : new Silent(index, before.uuid(), before.name(), before.totalBytes(), silence);
    }

    /// The processes with a CUDA context on this GPU, as the driver numbers them (in a container: perhaps not as here).
    public List<GpuProcess> processes(int index) {
        return processes(index, 3);
    }

    /// The same by one of the three versions of the call.
    public List<GpuProcess> processes(int index, int version) {
        long device = device(index);
        long bytes = version == 1 ? PROCESS_V1_BYTES : PROCESS_BYTES;
        for (int room = 64; ; room *= 2) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment count = arena.allocateFrom(JAVA_INT, room);
                MemorySegment infos = arena.allocate(bytes * room, JAVA_LONG.byteAlignment());
                int status = Calls.status(() -> list(version, device, count, infos));
                if (status != INSUFFICIENT_SIZE) {
                    check("nvmlDeviceGetComputeRunningProcesses, version " + version + ",", status);
                    return processes(infos, count.get(JAVA_INT, 0), bytes);
                }
            }
        }
    }

    private int list(int version, long device, MemorySegment count, MemorySegment infos) throws Throwable {
        return switch (version) {
            case 1 -> (int) entries.nvmlDeviceGetComputeRunningProcesses.invokeExact(device, count, infos);
            case 2 -> (int) entries.nvmlDeviceGetComputeRunningProcesses_v2.invokeExact(device, count, infos);
            default -> (int) entries.nvmlDeviceGetComputeRunningProcesses_v3.invokeExact(device, count, infos);
        };
    }

    private static List<GpuProcess> processes(MemorySegment infos, int count, long bytes) {
        List<GpuProcess> processes = new ArrayList<>();
        for (long at = 0; at < count * bytes; at += bytes) {
            processes.add(new GpuProcess(
                    Integer.toUnsignedLong(infos.get(JAVA_INT, at)), infos.get(JAVA_LONG, at + 8)));
        }
        return processes;
    }

    private Gpu gpu(int index) {
        long device = device(index);
        String uuid = text("nvmlDeviceGetUUID",
                out -> (int) entries.nvmlDeviceGetUUID.invokeExact(device, out, TEXT_BYTES));
        String name = text("nvmlDeviceGetName",
                out -> (int) entries.nvmlDeviceGetName.invokeExact(device, out, TEXT_BYTES));
        GpuMemory memory = memory(index);
        return new Gpu(index, uuid, name, memory.totalBytes(), memory.freeBytes(), memory.usedBytes());
    }

    public GpuMemory memory(int index) {
        long device = device(index);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MEMORY_BYTES, JAVA_LONG.byteAlignment());
            memory.set(JAVA_INT, 0, MEMORY_VERSION);
            int status = Calls.status(() -> (int) entries.nvmlDeviceGetMemoryInfo_v2.invokeExact(device, memory));
            if (status == FUNCTION_NOT_FOUND) {
                return memoryV1(index); // before driver 510
            }
            if (status == NOT_SUPPORTED) {
                return new GpuMemory(0, 0, 0); // one that has none of its own
            }
            check("nvmlDeviceGetMemoryInfo_v2", status);
            return new GpuMemory(memory.get(JAVA_LONG, 8), memory.get(JAVA_LONG, 24), memory.get(JAVA_LONG, 32));
        }
    }

    /// By the first version of the call, which counts what the driver keeps for itself as used.
    public GpuMemory memoryV1(int index) {
        long device = device(index);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MEMORY_V1_BYTES, JAVA_LONG.byteAlignment());
            check("nvmlDeviceGetMemoryInfo",
                    Calls.status(() -> (int) entries.nvmlDeviceGetMemoryInfo.invokeExact(device, memory)));
            return new GpuMemory(memory.get(JAVA_LONG, 0), memory.get(JAVA_LONG, 8), memory.get(JAVA_LONG, 16));
        }
    }

    /// The part of the last moments in which a kernel ran; -1 when the driver does not tell.
    public int utilizationPercent(int index) {
        return told(index, device -> Calls.longFrom(out -> (int) entries.nvmlDeviceGetUtilizationRates.invokeExact(device, out)));
    }

    /// -1 when the driver does not tell.
    public int temperatureCelsius(int index) {
        return told(index, device -> Calls.intFrom(out -> (int) entries.nvmlDeviceGetTemperature.invokeExact(device, GPU_SENSOR, out)));
    }

    private int told(int index, LongFunction<CallResult> call) {
        CallResult device = handle(index);
        CallResult answer = device.ok() ? call.apply(device.value()) : device;
        return answer.ok() ? (int) answer.value() : -1;
    }

    long device(int index) {
        CallResult device = handle(index);
        check("nvmlDeviceGetHandleByIndex_v2 for GPU " + index, device.status());
        return device.value();
    }

    CallResult handle(int index) {
        return Calls.longFrom(out -> (int) entries.nvmlDeviceGetHandleByIndex_v2.invokeExact(index, out));
    }

    private static String text(String call, Calls.Into into) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(TEXT_BYTES);
            check(call, Calls.status(() -> into.call(out)));
            return out.getString(0);
        }
    }

    private static void check(String call, int status) {
        if (status != SUCCESS) {
            throw new Refused(call, status);
        }
    }
}
