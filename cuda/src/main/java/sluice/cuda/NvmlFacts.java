package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// What kind of GPU one is, as far as its driver tells. It does not change while the driver is loaded.
public final class NvmlFacts {
    private static final int SUCCESS = 0;
    /// By NVML's numbers.
    private static final List<String> ARCHITECTURES = List.of("", "", "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell");

    record Entries(
            @Entry(takes = "LP") MethodHandle nvmlDeviceGetArchitecture,
            @Entry(takes = "LPP") MethodHandle nvmlDeviceGetCudaComputeCapability) {}

    /// Empty where the driver does not tell.
    ///
    /// @param architecture such as `Hopper`
    /// @param capability   for which programs are compiled, such as `9.0`
    /// @param driver       its version
    public record Facts(String architecture, String capability, String driver) {
        public static final Facts UNKNOWN = new Facts("", "", "");
    }

    private final Nvml nvml;
    private final Entries entries;

    public NvmlFacts(Nvml nvml) {
        this.nvml = nvml;
        entries = nvml.symbols().bind(Entries.class);
    }

    public Facts of(int gpu) {
        CallResult handle = nvml.handle(gpu);
        return handle.ok() ? new Facts(architecture(handle.value()), capability(handle.value()), driver()) : Facts.UNKNOWN;
    }

    private String architecture(long device) {
        CallResult number = Calls.intFrom(out -> (int) entries.nvmlDeviceGetArchitecture.invokeExact(device, out));
        return number.ok() && number.value() < ARCHITECTURES.size() ? ARCHITECTURES.get((int) number.value()) : "";
    }

    private String capability(long device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment major = arena.allocate(JAVA_INT);
            MemorySegment minor = arena.allocate(JAVA_INT);
            int status = Calls.status(() -> (int) entries.nvmlDeviceGetCudaComputeCapability.invokeExact(device, major, minor));
            return status == SUCCESS ? major.get(JAVA_INT, 0) + "." + minor.get(JAVA_INT, 0) : "";
        }
    }

    private String driver() {
        try {
            return nvml.driverVersion();
        } catch (Nvml.Refused e) {
            return "";
        }
    }
}
