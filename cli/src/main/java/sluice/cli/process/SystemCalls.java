package sluice.cli.process;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// System calls of x86-64 that Java has no name for.
///
/// Every start of a job waits for this, and binding native functions is the most of it. So there is one function,
/// `syscall(2)`, with numbers as arguments, and memory is written through byte buffers, which need no method handles.
@SuppressWarnings("restricted")
public final class SystemCalls {
    private static final long OPEN = 2;
    private static final long CLOSE = 3;
    private static final long ACCESS = 21;
    private static final long STATFS = 137;
    private static final long GETXATTR = 191;
    private static final long READ_ONLY_CLOSE_ON_EXEC = 0x80000 | 0x800;
    private static final long X_OK = 1;
    private static final long F_OK = 0;
    private static final int STATFS_BYTES = 120;
    private static final int STATFS_FLAGS_OFFSET = 80;
    private static final long NO_SETUID = 2;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment SYSCALL = LINKER.defaultLookup().find("syscall").orElseThrow();
    private static final FunctionDescriptor SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

    private final MethodHandle syscall = LINKER.downcallHandle(SYSCALL, SIGNATURE);
    private final List<ByteBuffer> kept = new ArrayList<>();

    long call(long number, long first, long second, long third, long fourth) {
        try {
            return (long) syscall.invokeExact(number, first, second, third, fourth);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// The error number of a call that fails; 0 if it does not. Binding a function that keeps errno costs two milliseconds.
    int error(long number, long first, long second, long third) {
        MethodHandle keeping = LINKER.downcallHandle(SYSCALL, SIGNATURE, Linker.Option.captureCallState("errno"));
        ByteBuffer errno = memory(Integer.BYTES);
        try {
            long result = (long) keeping.invokeExact(MemorySegment.ofBuffer(errno), number, first, second, third, 0L);
            return result < 0 ? errno.getInt(0) : 0;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    boolean isThere(byte[] path) {
        return call(ACCESS, string(path), F_OK, 0, 0) == 0;
    }

    public boolean mayExecute(byte[] path) {
        return call(ACCESS, string(path), X_OK, 0, 0) == 0;
    }

    /// A descriptor for reading, or a negative number.
    public int open(byte[] path) {
        return (int) call(OPEN, string(path), READ_ONLY_CLOSE_ON_EXEC, 0, 0);
    }

    public void close(int descriptor) {
        call(CLOSE, descriptor, 0, 0, 0);
    }

    public boolean hasAttribute(byte[] path, String name) {
        return call(GETXATTR, string(path), string(name.getBytes(StandardCharsets.US_ASCII)), 0, 0) > 0;
    }

    /// Whether the file system of a file gives no rights to who starts it.
    public boolean isOnNosuid(byte[] path) {
        ByteBuffer status = memory(STATFS_BYTES);
        return call(STATFS, string(path), address(status), 0, 0) == 0 && (status.getLong(STATFS_FLAGS_OFFSET) & NO_SETUID) != 0;
    }

    long strings(List<byte[]> strings) {
        ByteBuffer pointers = memory(Long.BYTES * (strings.size() + 1));
        for (int at = 0; at < strings.size(); at++) {
            pointers.putLong(Long.BYTES * at, string(strings.get(at)));
        }
        return address(pointers);
    }

    long string(byte[] text) {
        return address(memory(text.length + 1).put(0, text));
    }

    ByteBuffer memory(int bytes) {
        ByteBuffer memory = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        kept.add(memory);
        return memory;
    }

    static long address(ByteBuffer memory) {
        return MemorySegment.ofBuffer(memory).address();
    }
}
