package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;

/// Start, versions, devices and their primary contexts. A handle is its 64-bit value.
public record Devices(
        @Entry(since = 2000, takes = "I") MethodHandle cuInit,
        @Entry(since = 2020, takes = "P") MethodHandle cuDriverGetVersion,
        @Entry(since = 2000, takes = "P") MethodHandle cuDeviceGetCount,
        @Entry(since = 2000, takes = "PI") MethodHandle cuDeviceGet,
        @Entry(since = 2000, takes = "PII") MethodHandle cuDeviceGetName,
        @Entry(since = 9020, takes = "PI") MethodHandle cuDeviceGetUuid,
        @Entry(since = 2000, takes = "PII") MethodHandle cuDeviceGetAttribute,
        @Entry(since = 3020, takes = "PI") MethodHandle cuDeviceTotalMem_v2,
        @Entry(since = 2000, takes = "PI") MethodHandle cuDeviceTotalMem,
        @Entry(since = 7000, takes = "PI") MethodHandle cuDevicePrimaryCtxRetain,
        @Entry(since = 11000, takes = "I") MethodHandle cuDevicePrimaryCtxRelease_v2,
        @Entry(since = 11000, takes = "I") MethodHandle cuDevicePrimaryCtxReset_v2,
        @Entry(since = 4000, takes = "L") MethodHandle cuCtxSetCurrent,
        @Entry(since = 2000, takes = "") MethodHandle cuCtxSynchronize) {

    public int init() {
        return Calls.status(() -> (int) cuInit.invokeExact(0));
    }

    public CallResult version() {
        return Calls.intFrom(out -> (int) cuDriverGetVersion.invokeExact(out));
    }

    public CallResult count() {
        return Calls.intFrom(out -> (int) cuDeviceGetCount.invokeExact(out));
    }

    /// The device handle of the GPU with this ordinal.
    public CallResult device(int ordinal) {
        return Calls.intFrom(out -> (int) cuDeviceGet.invokeExact(out, ordinal));
    }

    public CallResult attribute(int attribute, int device) {
        return Calls.intFrom(out -> (int) cuDeviceGetAttribute.invokeExact(out, attribute, device));
    }

    public CallResult totalBytes(int device) {
        return Calls.longFrom(out -> (int) cuDeviceTotalMem_v2.invokeExact(out, device));
    }

    /// Of the 32-bit API: the value is cut by the driver to what fits.
    public CallResult totalBytesV1(int device) {
        return Calls.intFrom(out -> (int) cuDeviceTotalMem.invokeExact(out, device));
    }

    public int totalBytesInto(MemorySegment out, int device) {
        return Calls.status(() -> (int) cuDeviceTotalMem_v2.invokeExact(out, device));
    }

    public String name(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(256);
            Status.check("cuDeviceGetName", Calls.status(() -> (int) cuDeviceGetName.invokeExact(text, 256, device)));
            return text.getString(0);
        }
    }

    /// As nvidia-smi writes it: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
    public String uuid(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(16);
            Status.check("cuDeviceGetUuid", Calls.status(() -> (int) cuDeviceGetUuid.invokeExact(bytes, device)));
            String hex = HexFormat.of().formatHex(bytes.toArray(JAVA_BYTE));
            return "GPU-" + hex.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5");
        }
    }

    public CallResult retainPrimaryContext(int device) {
        return Calls.longFrom(out -> (int) cuDevicePrimaryCtxRetain.invokeExact(out, device));
    }

    public int releasePrimaryContext(int device) {
        return Calls.status(() -> (int) cuDevicePrimaryCtxRelease_v2.invokeExact(device));
    }

    public int resetPrimaryContext(int device) {
        return Calls.status(() -> (int) cuDevicePrimaryCtxReset_v2.invokeExact(device));
    }

    public int setCurrent(long context) {
        return Calls.status(() -> (int) cuCtxSetCurrent.invokeExact(context));
    }

    public int synchronize() {
        return Calls.status(() -> (int) cuCtxSynchronize.invokeExact());
    }
}
