package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/// How well a GPU is, as far as its driver tells. May be used by one thread at a time.
public final class NvmlHealth implements AutoCloseable {
    public static final int UNKNOWN = -1;

    private static final int SUCCESS = 0;
    private static final int FUNCTION_NOT_FOUND = 13;
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int SINCE_DRIVER_LOAD = 0;
    private static final int SLOWDOWN_THRESHOLD = 1;
    private static final long XID = 8;
    private static final long EVENT_BYTES = 32;
    private static final long EVENT_DATA_AT = 16;
    /// An event set that is never empty must not hold its reader.
    private static final int MOST_EVENTS = 64;

    /// The hardware, or the driver for the sake of temperature, holds the clocks back.
    private static final long SLOWED_BY_HEAT = 0x20 | 0x40;
    private static final long SLOWED_BY_POWER = 0x80;

    record Entries(
            @Entry(takes = "LIIP") MethodHandle nvmlDeviceGetTotalEccErrors,
            @Entry(takes = "LIP") MethodHandle nvmlDeviceGetTemperatureThreshold,
            @Entry(takes = "LP") MethodHandle nvmlDeviceGetCurrentClocksThrottleReasons,
            @Entry(takes = "LPPPP") MethodHandle nvmlDeviceGetRemappedRows,
            @Entry(takes = "P") MethodHandle nvmlEventSetCreate,
            @Entry(takes = "LLL") MethodHandle nvmlDeviceRegisterEvents,
            @Entry(takes = "LPI") MethodHandle nvmlEventSetWait_v2,
            @Entry(takes = "LPI") MethodHandle nvmlEventSetWait,
            @Entry(takes = "L") MethodHandle nvmlEventSetFree) {}

    /// What nobody tells is less than 0.
    ///
    /// @param silence        why the GPU does not answer, if it does not
    /// @param correctedEcc   errors since the driver was loaded
    /// @param uncorrectedEcc the same, of those that cost data
    /// @param rowsPending    memory is to be replaced by spare rows at the next reset
    /// @param rowsFailed     there are no spare rows left
    public record Health(Optional<Silence> silence, long correctedEcc, long uncorrectedEcc, boolean rowsPending, boolean rowsFailed,
            int temperatureCelsius, int slowdownCelsius, boolean slowedByHeat, boolean slowedByPower) {

        /// Of a GPU that tells nothing else.
        static Health silent(int status) {
            return new Health(Optional.of(Silence.of(status)), UNKNOWN, UNKNOWN, false, false, UNKNOWN, UNKNOWN, false, false);
        }
    }

    /// An error that the driver reported.
    public record Xid(int gpu, long number) {}

    private final Nvml nvml;
    private final Entries entries;
    private final Map<Long, Integer> gpuByHandle = new HashMap<>();
    private final long events;

    public NvmlHealth(Nvml nvml, List<Integer> gpus) {
        this.nvml = nvml;
        entries = nvml.symbols().bind(Entries.class);
        CallResult created = Calls.longFrom(out -> (int) entries.nvmlEventSetCreate.invokeExact(out));
        events = created.status() == SUCCESS ? created.value() : 0;
        gpus.forEach(this::register);
    }

    /// A GPU that has no such events, or is silent, is asked for none.
    private void register(int gpu) {
        CallResult handle = nvml.handle(gpu);
        long device = handle.value();
        if (handle.ok() && events != 0
                && Calls.status(() -> (int) entries.nvmlDeviceRegisterEvents.invokeExact(device, XID, events)) == SUCCESS) {
            gpuByHandle.put(device, gpu);
        }
    }

    public Health of(int gpu) {
        CallResult handle = nvml.handle(gpu);
        if (!handle.ok()) {
            return Health.silent(handle.status());
        }
        long device = handle.value();
        CallResult corrected = ecc(device, CORRECTED);
        CallResult uncorrected = ecc(device, UNCORRECTED);
        CallResult slowdown = Calls.intFrom(out -> (int) entries.nvmlDeviceGetTemperatureThreshold.invokeExact(device, SLOWDOWN_THRESHOLD, out));
        CallResult reasons = Calls.longFrom(out -> (int) entries.nvmlDeviceGetCurrentClocksThrottleReasons.invokeExact(device, out));
        long slowed = reasons.status() == SUCCESS ? reasons.value() : 0;
        Optional<Silence> silence = IntStream.of(uncorrected.status(), reasons.status())
                .filter(Silence::isCertain).mapToObj(Silence::of).findFirst();
        boolean[] rows = rows(device);
        return new Health(silence, valueOr(corrected), valueOr(uncorrected), rows[0], rows[1], nvml.temperatureCelsius(gpu),
                (int) valueOr(slowdown), (slowed & SLOWED_BY_HEAT) != 0, (slowed & SLOWED_BY_POWER) != 0);
    }

    private CallResult ecc(long device, int kind) {
        return Calls.longFrom(out -> (int) entries.nvmlDeviceGetTotalEccErrors.invokeExact(device, kind, SINCE_DRIVER_LOAD, out));
    }

    private static long valueOr(CallResult answer) {
        return answer.status() == SUCCESS ? answer.value() : UNKNOWN;
    }

    private boolean[] rows(long device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] out = {arena.allocate(JAVA_INT), arena.allocate(JAVA_INT), arena.allocate(JAVA_INT), arena.allocate(JAVA_INT)};
            int status = Calls.status(() -> (int) entries.nvmlDeviceGetRemappedRows.invokeExact(device, out[0], out[1], out[2], out[3]));
            return new boolean[] {status == SUCCESS && out[2].get(JAVA_INT, 0) != 0, status == SUCCESS && out[3].get(JAVA_INT, 0) != 0};
        }
    }

    /// The errors that came since the last time; it does not wait for any.
    public List<Xid> xids() {
        List<Xid> xids = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, JAVA_LONG.byteAlignment());
            while (!gpuByHandle.isEmpty() && xids.size() < MOST_EVENTS && next(event) == SUCCESS) {
                xids.add(new Xid(gpuByHandle.getOrDefault(event.get(JAVA_LONG, 0), UNKNOWN), event.get(JAVA_LONG, EVENT_DATA_AT)));
            }
        }
        return xids;
    }

    private int next(MemorySegment event) {
        int status = Calls.status(() -> (int) entries.nvmlEventSetWait_v2.invokeExact(events, event, 0));
        return status == FUNCTION_NOT_FOUND ? Calls.status(() -> (int) entries.nvmlEventSetWait.invokeExact(events, event, 0)) : status;
    }

    @Override
    public void close() {
        if (events != 0) {
            Calls.status(() -> (int) entries.nvmlEventSetFree.invokeExact(events));
        }
    }
}
