package sluice.linux;

import java.lang.foreign.MemorySegment;

/// Wakes threads that wait for a word in shared memory, in this process and in others. The kernel knows the word by its file and place.
public final class Futex {
    private static final int WAKE = 1;

    private Futex() {}

    /// @param word 32 bits in a shared mapping of a file, on a boundary of four bytes
    /// @return how many threads were woken; negative: there is no such memory
    public static long wakeAll(MemorySegment word) {
        return SystemCalls.call(SystemCall.FUTEX, word.address(), WAKE, Integer.MAX_VALUE);
    }
}
