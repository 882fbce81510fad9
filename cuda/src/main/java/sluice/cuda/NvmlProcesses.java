package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/// Processes with a context on a GPU, by what it is for. Drivers before 510 know the first form of the lists only.
public final class NvmlProcesses {
    private static final int SUCCESS = 0;
    private static final int INSUFFICIENT_SIZE = 7;
    private static final int FUNCTION_NOT_FOUND = 13;
    private static final long V3_BYTES = 24;
    private static final long V1_BYTES = 16;
    private static final long USED_AT = 8;
    private static final int FIRST_ROOM = 64;

    record Entries(
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetComputeRunningProcesses_v3,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetComputeRunningProcesses,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetMPSComputeRunningProcesses_v3,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetMPSComputeRunningProcesses,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetGraphicsRunningProcesses_v3,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetGraphicsRunningProcesses) {}

    private final Nvml nvml;
    private final Entries entries;

    public NvmlProcesses(Nvml nvml) {
        this.nvml = nvml;
        entries = nvml.symbols().bind(Entries.class);
    }

    /// Programs with a CUDA context. Throws when the GPU cannot be asked.
    public List<Nvml.GpuProcess> computing(int index) {
        return ask(index, entries.nvmlDeviceGetComputeRunningProcesses_v3, entries.nvmlDeviceGetComputeRunningProcesses, true);
    }

    /// Clients of the MPS server; none where there is no such list.
    public List<Nvml.GpuProcess> throughMps(int index) {
        return ask(index, entries.nvmlDeviceGetMPSComputeRunningProcesses_v3, entries.nvmlDeviceGetMPSComputeRunningProcesses, false);
    }

    /// Programs that draw; none where there is no such list.
    public List<Nvml.GpuProcess> drawing(int index) {
        return ask(index, entries.nvmlDeviceGetGraphicsRunningProcesses_v3, entries.nvmlDeviceGetGraphicsRunningProcesses, false);
    }

    private List<Nvml.GpuProcess> ask(int index, MethodHandle newest, MethodHandle oldest, boolean mustAnswer) {
        long device = nvml.device(index);
        List<Nvml.GpuProcess> processes = new ArrayList<>();
        int status = list(device, newest, V3_BYTES, processes);
        if (status == FUNCTION_NOT_FOUND) {
            status = list(device, oldest, V1_BYTES, processes);
        }
        if (status != SUCCESS && mustAnswer) {
            throw new IllegalStateException("GPU " + index + " does not tell its processes: NVML error " + status);
        }
        return processes;
    }

    private static int list(long device, MethodHandle call, long bytes, List<Nvml.GpuProcess> found) {
        for (int room = FIRST_ROOM; ; room *= 2) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment count = arena.allocateFrom(JAVA_INT, room);
                MemorySegment infos = arena.allocate(bytes * room, JAVA_LONG.byteAlignment());
                int status = Calls.status(() -> (int) call.invokeExact(device, count, infos));
                if (status == INSUFFICIENT_SIZE) {
                    continue;
                }
                for (long at = 0; status == SUCCESS && at < count.get(JAVA_INT, 0) * bytes; at += bytes) {
                    found.add(new Nvml.GpuProcess(Integer.toUnsignedLong(infos.get(JAVA_INT, at)), infos.get(JAVA_LONG, at + USED_AT)));
                }
                return status;
            }
        }
    }
}
