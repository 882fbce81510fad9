package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;

/// Memory that several processes or GPUs have in common. Handles of one process for another are text here.
public record Sharing(
        @Entry(since = 4010, takes = "PL") MethodHandle cuIpcGetMemHandle,
        @Entry(since = 11000, takes = "PHI") MethodHandle cuIpcOpenMemHandle_v2,
        @Entry(since = 4010, takes = "L") MethodHandle cuIpcCloseMemHandle,
        @Entry(since = 10020, takes = "PLIL") MethodHandle cuMemExportToShareableHandle,
        @Entry(since = 10020, takes = "PLI") MethodHandle cuMemImportFromShareableHandle,
        @Entry(since = 10000, takes = "PP") MethodHandle cuImportExternalMemory,
        @Entry(since = 10000, takes = "L") MethodHandle cuDestroyExternalMemory,
        @Entry(since = 12010, takes = "PP") MethodHandle cuMulticastCreate,
        @Entry(since = 12010, takes = "LI") MethodHandle cuMulticastAddDevice,
        @Entry(since = 12010, takes = "LLLLLL") MethodHandle cuMulticastBindMem,
        @Entry(since = 12010, takes = "LILL") MethodHandle cuMulticastUnbind) {

    private static final int LAZY_PEER_ACCESS = 1;
    private static final int FILE_DESCRIPTOR = 1;
    private static final long MULTICAST_PROPERTIES_BYTES = 32;
    private static final long EXTERNAL_DESCRIPTION_BYTES = 104;

    /// @param handle hexadecimal, for another process
    public record Exported(int status, String handle) {}

    /// Of memory by cuMemAlloc.
    public Exported export(long pointer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(Symbols.IPC_HANDLE);
            int status = Calls.status(() -> (int) cuIpcGetMemHandle.invokeExact(handle, pointer));
            return new Exported(status, HexFormat.of().formatHex(handle.toArray(JAVA_BYTE)));
        }
    }

    public CallResult open(String handle) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(Symbols.IPC_HANDLE);
            bytes.copyFrom(MemorySegment.ofArray(HexFormat.of().parseHex(handle)));
            return Calls.longFrom(out -> (int) cuIpcOpenMemHandle_v2.invokeExact(out, bytes, LAZY_PEER_ACCESS));
        }
    }

    public int close(long pointer) {
        return Calls.status(() -> (int) cuIpcCloseMemHandle.invokeExact(pointer));
    }

    /// A file descriptor of physical memory that was created to be exported.
    public CallResult exportPhysical(long handle) {
        return Calls.intFrom(out -> (int) cuMemExportToShareableHandle.invokeExact(out, handle, FILE_DESCRIPTOR, 0L));
    }

    public CallResult importPhysical(int descriptor) {
        return Calls.longFrom(out -> (int) cuMemImportFromShareableHandle.invokeExact(out, (long) descriptor, FILE_DESCRIPTOR));
    }

    /// As memory of a graphics API would be imported.
    public CallResult importExternal(int descriptor, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment description = arena.allocate(EXTERNAL_DESCRIPTION_BYTES, JAVA_LONG.byteAlignment());
            description.set(JAVA_INT, 0, FILE_DESCRIPTOR);
            description.set(JAVA_INT, 8, descriptor);
            description.set(JAVA_LONG, 24, bytes);
            return Calls.longFrom(out -> (int) cuImportExternalMemory.invokeExact(out, description));
        }
    }

    public int destroyExternal(long external) {
        return Calls.status(() -> (int) cuDestroyExternalMemory.invokeExact(external));
    }

    /// An object that stands for memory of this many GPUs.
    public CallResult createMulticast(int gpus, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = arena.allocate(MULTICAST_PROPERTIES_BYTES, JAVA_LONG.byteAlignment());
            properties.set(JAVA_INT, 0, gpus);
            properties.set(JAVA_LONG, 8, bytes);
            return Calls.longFrom(out -> (int) cuMulticastCreate.invokeExact(out, properties));
        }
    }

    public int addDevice(long multicast, int device) {
        return Calls.status(() -> (int) cuMulticastAddDevice.invokeExact(multicast, device));
    }

    public int bind(long multicast, long handle, long bytes) {
        return Calls.status(() -> (int) cuMulticastBindMem.invokeExact(multicast, 0L, handle, 0L, bytes, 0L));
    }

    public int unbind(long multicast, int device, long bytes) {
        return Calls.status(() -> (int) cuMulticastUnbind.invokeExact(multicast, device, 0L, bytes));
    }
}
