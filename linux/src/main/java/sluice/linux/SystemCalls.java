package sluice.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The one native function that Sluice's tools call: `syscall(2)`, with numbers as arguments.
///
/// The start of every job waits for its binding, which takes most of a millisecond; keeping errno takes two more. So there are two
/// bindings, made when they are first needed. Memory is written through byte buffers, which need no method handles.
@SuppressWarnings("restricted")
public final class SystemCalls {
    private static final int MOST_ARGUMENTS = 6;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment SYSCALL = LINKER.defaultLookup().find("syscall").orElseThrow();
    private static final FunctionDescriptor SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);

    private SystemCalls() {}

    private static final class Plain {
        private static final MethodHandle HANDLE = LINKER.downcallHandle(SYSCALL, SIGNATURE);
    }

    private static final class KeepingErrno {
        private static final MethodHandle HANDLE = LINKER.downcallHandle(SYSCALL, SIGNATURE, Linker.Option.captureCallState("errno"));
    }

    /// For calls whose error does not matter. @return what the call returns; negative when it failed
    public static long call(SystemCall call, long... arguments) {
        long[] all = Arrays.copyOf(arguments, MOST_ARGUMENTS);
        try {
            return (long) Plain.HANDLE.invokeExact(call.number, all[0], all[1], all[2], all[3], all[4], all[5]);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// @return what the call returns, or the number of its error, negative
    public static long result(SystemCall call, long... arguments) {
        long[] all = Arrays.copyOf(arguments, MOST_ARGUMENTS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(Integer.BYTES, Integer.BYTES);
            long result = (long) KeepingErrno.HANDLE.invokeExact(errno, call.number, all[0], all[1], all[2], all[3], all[4], all[5]);
            return result == -1 ? -errno.asByteBuffer().order(ByteOrder.nativeOrder()).getInt(0) : result;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// @param what the subject of the error, for people
    static long checked(String what, SystemCall call, long... arguments) throws IOException {
        long result = result(call, arguments);
        if (result < 0 && result > -Errno.END) {
            throw Errno.exception(what, (int) -result);
        }
        return result;
    }

    /// Memory for a text that ends with 0.
    static long text(String text, Arena arena) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return address(memory(bytes.length + 1, arena).put(0, bytes));
    }

    static ByteBuffer memory(int bytes, Arena arena) {
        return arena.allocate(bytes, Long.BYTES).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    static long address(ByteBuffer memory) {
        return MemorySegment.ofBuffer(memory).address();
    }
}
