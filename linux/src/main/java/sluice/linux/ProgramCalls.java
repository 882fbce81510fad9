package sluice.linux;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Calls to become another program. The names of programs and arguments are bytes, as in the kernel; their memory is never freed.
public final class ProgramCalls {
    private static final long CURRENT_FOLDER = Descriptor.CURRENT_FOLDER;
    private static final long MAY_EXECUTE = 1;
    private static final int STATFS_BYTES = 120;
    private static final int STATFS_FLAGS_OFFSET = 80;
    private static final long NO_SETUID = 2;
    private static final long SIG_SETMASK = 2;
    private static final int SIGNAL_SET_BYTES = 8;
    private static final long F_SETFD = 2;
    private static final long FD_CLOEXEC = 1;
    private static final long SIGTSTP = 20;

    private final List<ByteBuffer> kept = new ArrayList<>();

    public ProgramCalls() {}

    public boolean isThere(byte[] path) {
        return SystemCalls.call(SystemCall.FACCESSAT, CURRENT_FOLDER, string(path), 0) == 0;
    }

    public boolean mayExecute(byte[] path) {
        return SystemCalls.call(SystemCall.FACCESSAT, CURRENT_FOLDER, string(path), MAY_EXECUTE) == 0;
    }

    /// A descriptor for reading, or a negative number.
    public int open(byte[] path) {
        return (int) SystemCalls.call(SystemCall.OPENAT, CURRENT_FOLDER, string(path), Descriptor.CLOSE_ON_EXEC | Descriptor.NO_WAIT, 0);
    }

    public void close(int descriptor) {
        SystemCalls.call(SystemCall.CLOSE, descriptor);
    }

    public void closeOnExec(long descriptor) {
        SystemCalls.call(SystemCall.FCNTL, descriptor, F_SETFD, FD_CLOEXEC);
    }

    public void blockSignals(long mask) {
        SystemCalls.call(SystemCall.RT_SIGPROCMASK, SIG_SETMASK, address(memory(SIGNAL_SET_BYTES).putLong(0, mask)), 0, SIGNAL_SET_BYTES);
    }

    public boolean hasAttribute(byte[] path, String name) {
        return SystemCalls.call(SystemCall.GETXATTR, string(path), string(name.getBytes(StandardCharsets.US_ASCII)), 0, 0) > 0;
    }

    /// Whether the file system of a file gives no rights to a process that starts it.
    public boolean isOnNosuid(byte[] path) {
        ByteBuffer status = memory(STATFS_BYTES);
        return SystemCalls.call(SystemCall.STATFS, string(path), address(status)) == 0 && (status.getLong(STATFS_FLAGS_OFFSET) & NO_SETUID) != 0;
    }

    /// Becomes another program. @param environment of [#strings]
    /// @return the number of the error: it returns only then
    public int execute(byte[] path, List<byte[]> arguments, long environment) {
        long file = string(path);
        long texts = strings(arguments);
        SystemCalls.call(SystemCall.EXECVE, file, texts, environment);
        return (int) -SystemCalls.result(SystemCall.EXECVE, file, texts, environment);
    }

    /// Stops all processes that the shell counts as one job, this one included, as Ctrl-Z does.
    public static void stopJob() {
        SystemCalls.call(SystemCall.KILL, 0, SIGTSTP);
    }

    public long strings(List<byte[]> strings) {
        ByteBuffer pointers = memory(Long.BYTES * (strings.size() + 1));
        for (int at = 0; at < strings.size(); at++) {
            pointers.putLong(Long.BYTES * at, string(strings.get(at)));
        }
        return address(pointers);
    }

    private long string(byte[] text) {
        return address(memory(text.length + 1).put(0, text));
    }

    private ByteBuffer memory(int bytes) {
        ByteBuffer memory = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        kept.add(memory);
        return memory;
    }

    private static long address(ByteBuffer memory) {
        return MemorySegment.ofBuffer(memory).address();
    }
}
