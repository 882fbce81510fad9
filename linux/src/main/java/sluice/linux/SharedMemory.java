package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory without a name in any folder, which can be handed to other processes and sealed; and maps of open files.
@SuppressWarnings("restricted")
public final class SharedMemory {
    private static final int CLOSE_ON_EXEC = 1;
    private static final int ALLOW_SEALING = 2;
    private static final int ADD_SEALS = 1033;
    private static final int GET_SEALS = 1034;
    private static final int SEAL_SIZE = 1 | 2 | 4;
    /// Linux 5.1.
    private static final int SEAL_FUTURE_WRITE = 16;
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int SHARED = 1;
    private static final int FIXED = 0x10;

    private SharedMemory() {}

    public static Descriptor create(String name, long bytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Descriptor memory = new Descriptor(SystemCalls.checked("new memory", SystemCall.MEMFD_CREATE, SystemCalls.text(name, arena),
                    CLOSE_ON_EXEC | ALLOW_SEALING));
            SystemCalls.checked("new memory", SystemCall.FTRUNCATE, memory.number(), bytes);
            return memory;
        }
    }

    /// From now on no process can make it shorter or longer, so a process can map it safely.
    public static void sealSize(Descriptor memory) throws IOException {
        SystemCalls.checked("sealing", SystemCall.FCNTL, memory.number(), ADD_SEALS, SEAL_SIZE);
    }

    /// The same, and a process that has not mapped it for writing yet never will. Needs Linux 5.1.
    public static void sealAgainstWriters(Descriptor memory) throws IOException {
        SystemCalls.checked("sealing", SystemCall.FCNTL, memory.number(), ADD_SEALS, SEAL_SIZE | SEAL_FUTURE_WRITE);
    }

    public static boolean isSizeSealed(Descriptor memory) throws IOException {
        return (SystemCalls.checked("seals", SystemCall.FCNTL, memory.number(), GET_SEALS, 0) & SEAL_SIZE) == SEAL_SIZE;
    }

    /// Maps the beginning of an open file. The memory ends with the arena.
    public static MemorySegment map(Descriptor file, long bytes, boolean write, Arena arena) throws IOException {
        long address = SystemCalls.checked("a map", SystemCall.MMAP, 0, bytes, write ? READ | WRITE : READ, SHARED, file.number(), 0);
        MemorySegment segment = MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, mapped -> SystemCalls.call(SystemCall.MUNMAP, mapped.address(), bytes));
        return write ? segment : segment.asReadOnly();
    }

    /// Maps the beginning of another file over the present mapping.
    public static void mapOver(MemorySegment place, Descriptor file, long bytes, boolean write) throws IOException {
        if (bytes > place.byteSize()) {
            throw new IllegalArgumentException(bytes + " bytes do not fit into " + place.byteSize());
        }
        SystemCalls.checked("a map", SystemCall.MMAP, place.address(), bytes, write ? READ | WRITE : READ, SHARED | FIXED, file.number(), 0);
    }
}
