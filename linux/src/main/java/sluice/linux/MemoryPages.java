package sluice.linux;

import java.io.IOException;

/// Pages of memory without a name: which are there, making them, and giving them back.
@SuppressWarnings("restricted")
public final class MemoryPages {
    private static final int READ_WRITE = 3;
    private static final int SHARED = 1;
    private static final int LARGE_PAGES = 14;
    /// Linux 5.14. It fails where a write would end in a signal.
    private static final int POPULATE_WRITE = 23;
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int SEEK_HOLE = 4;

    private MemoryPages() {}

    /// Whether all pages of a part are there.
    public static boolean areThere(Descriptor memory, long offset, long bytes) {
        return SystemCalls.call(SystemCall.LSEEK, memory.number(), offset, SEEK_HOLE) >= offset + bytes;
    }

    /// Makes the pages of a part that are not there, empty, in large pages where the kernel allows that for shared memory. They count for the control group
    /// of this process. Pages that are there keep their contents.
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
