package sluice.cli;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Turns this process into another program: same pid, same parent, same files, same signal mask as it was started with.
///
/// Every start of a job waits for this, and binding native functions is the most of it. So there is one function,
/// `syscall(2)`, with numbers as arguments, and memory is written through byte buffers, which need no method handles.
@SuppressWarnings("restricted")
final class Exec {
    /// The program is there, and what it needs to start is not.
    static final int NO_INTERPRETER = -1;
    static final int ENOENT = 2;
    static final int E2BIG = 7;
    static final int EACCES = 13;
    private static final int ENOEXEC = 8;

    // System call numbers of x86-64.
    private static final long RT_SIGPROCMASK = 14;
    private static final long ACCESS = 21;
    private static final long EXECVE = 59;
    private static final long FCNTL = 72;

    private static final long SIG_SETMASK = 2;
    private static final int SIGNAL_SET_BYTES = 8;
    private static final long F_SETFD = 2;
    private static final long FD_CLOEXEC = 1;
    private static final long X_OK = 1;
    private static final long F_OK = 0;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemorySegment SYSCALL = LINKER.defaultLookup().find("syscall").orElseThrow();
    private static final FunctionDescriptor SIGNATURE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

    private final MethodHandle syscall = LINKER.downcallHandle(SYSCALL, SIGNATURE);
    private final List<ByteBuffer> kept = new ArrayList<>();
    private final long environment;

    Exec(List<byte[]> environment) {
        this.environment = strings(environment);
    }

    /// Gives the program only what the caller of Sluice gave to Sluice: the signal mask, and no file of the Java runtime.
    /// Other open files stay open, as in any command that runs a command.
    void restore(long blockedSignals) {
        ByteBuffer mask = memory(SIGNAL_SET_BYTES).putLong(0, blockedSignals);
        call(RT_SIGPROCMASK, SIG_SETMASK, address(mask), 0, SIGNAL_SET_BYTES);
        Path runtime = Path.of(System.getProperty("java.home"));
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                if (isUnder(runtime, descriptor)) {
                    call(FCNTL, Long.parseLong(descriptor.getFileName().toString()), F_SETFD, FD_CLOEXEC, 0);
                }
            }
        } catch (IOException e) {
            // Then the program inherits an open file that it does not know of.
        }
    }

    private static boolean isUnder(Path runtime, Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(runtime);
        } catch (IOException e) {
            return false;
        }
    }

    /// Starts the program at a path. It returns only with the number of an error.
    int execute(byte[] path, List<byte[]> arguments) {
        long file = string(path);
        if (call(ACCESS, file, X_OK, 0, 0) != 0) {
            return call(ACCESS, file, F_OK, 0, 0) == 0 ? EACCES : ENOENT;
        }
        call(EXECVE, file, strings(arguments), environment, 0);
        int error = errorOfExecve(file, strings(arguments));
        if (error != ENOEXEC) {
            return error == ENOENT ? NO_INTERPRETER : error;
        }
        List<byte[]> script = new ArrayList<>(arguments);
        script.set(0, path);
        script.addFirst("/bin/sh".getBytes(StandardCharsets.UTF_8));
        return errorOfExecve(string(script.getFirst()), strings(script));
    }

    private long call(long number, long first, long second, long third, long fourth) {
        try {
            return (long) syscall.invokeExact(number, first, second, third, fourth);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /// Tries again with a function that keeps errno, which costs two milliseconds more to bind.
    private int errorOfExecve(long file, long arguments) {
        MethodHandle keeping = LINKER.downcallHandle(SYSCALL, SIGNATURE, Linker.Option.captureCallState("errno"));
        ByteBuffer errno = memory(Integer.BYTES);
        try {
            long result = (long) keeping.invokeExact(MemorySegment.ofBuffer(errno), EXECVE, file, arguments, environment, 0L);
            return result < 0 ? errno.getInt(0) : 0;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private long strings(List<byte[]> strings) {
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
