package sluice.linux;

import java.io.IOException;

/// Pages of memory without a name: checks which exist, makes them, and gives them back.
@SuppressWarnings("restricted")
public final class MemoryPages {
    private static final int READ_WRITE = 3;
    private static final int SHARED = 1;
    private static final int LARGE_PAGES = 14;
    /// Linux 5.14. It fails if a write would raise a signal.
    private static final int POPULATE_WRITE = 23;
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int SEEK_HOLE = 4;

    private MemoryPages() {}

    /// Whether all pages of a part exist.
    public static boolean areThere(Descriptor memory, long offset, long bytes) {
        return SystemCalls.call(SystemCall.LSEEK, memory.number(), offset, SEEK_HOLE) >= offset + bytes;
    }

    /// Makes the missing pages of a part, empty, in large pages if the kernel allows that for shared memory. They count for the control group
    /// of this process. Existing pages keep their contents.
    public static void make(Descriptor memory, long offset, long bytes) throws IOException {
        long address = SystemCalls.checked("a map", SystemCall.MMAP, 0, bytes, READ_WRITE, SHARED, memory.number(), offset);
        try {
            SystemCalls.call(SystemCall.MADVISE, address, bytes, LARGE_PAGES);
            SystemCalls.checked("memory", SystemCall.MADVISE, address, bytes, POPULATE_WRITE);
        } finally {
            SystemCalls.call(SystemCall.MUNMAP, address, bytes);
        }
    }

    /// Gives all pages back to the kernel, whoever has the memory open.
    public static void giveBack(Descriptor memory, long bytes) throws IOException {
        SystemCalls.checked("memory", SystemCall.FALLOCATE, memory.number(), PUNCH_HOLE | KEEP_SIZE, 0, bytes);
    }
}
