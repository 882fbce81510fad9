package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/// Locks of an open file description: they end with its last descriptor. Java's own locks end with any descriptor of the same file.
public final class FileLocks {
    /// The kernel's answer about a lock on a byte of a file.
    public enum State { UNKNOWN, FREE, HELD }

    private static final long GET = 36;
    private static final long SET = 37;
    private static final short WRITE_LOCK = 1;
    private static final short UNLOCKED = 2;
    private static final int STRUCT_BYTES = 32;
    private static final int START_OFFSET = 8;
    private static final int LENGTH_OFFSET = 16;

    private FileLocks() {}

    /// Takes the lock on bytes of a file that is open for writing. @param length 0 for all that follow
    /// @return whether it is ours now; false when another open file has it
    public static boolean take(Descriptor file, long from, long length) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            long result = SystemCalls.result(SystemCall.FCNTL, file.number(), SET, SystemCalls.address(lock(from, length, arena)));
            if (result < 0 && result != -Errno.EAGAIN && result != -Errno.EACCES) {
                throw Errno.exception("a lock", (int) -result);
            }
            return result >= 0;
        }
    }

    /// Whether any other open file has a lock there.
    public static State state(Descriptor file, long from, long length) {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer lock = lock(from, length, arena);
            long result = SystemCalls.call(SystemCall.FCNTL, file.number(), GET, SystemCalls.address(lock));
            return result < 0 ? State.UNKNOWN : lock.getShort(0) == UNLOCKED ? State.FREE : State.HELD;
        }
    }

    private static ByteBuffer lock(long from, long length, Arena arena) {
        return SystemCalls.memory(STRUCT_BYTES, arena).putShort(0, WRITE_LOCK).putLong(START_OFFSET, from).putLong(LENGTH_OFFSET, length);
    }
}
