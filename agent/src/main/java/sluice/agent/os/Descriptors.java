package sluice.agent.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import sluice.region.SluiceException;

/// File descriptors that are handed to tenants: of files, and of memory without a file that can be sealed.
@SuppressWarnings("restricted")
public final class Descriptors {
    private static final int MEMORY_CLOSE_ON_EXEC = 1;
    private static final int MEMORY_ALLOW_SEALING = 2;
    private static final int ADD_SEALS = 1033;
    private static final int GET_SEALS = 1034;
    private static final int SEAL_SIZE = 1 | 2 | 4;
    /// Linux 5.1.
    private static final int SEAL_FUTURE_WRITE = 16;
    private static final int READ_WRITE = 3;
    private static final int SHARED = 1;
    private static final int OPEN_FOLLOWING = 2 | 0x80000;
    private static final int OPEN_READ_WRITE = OPEN_FOLLOWING | 0x20000;

    private static final MethodHandle MEMFD_CREATE = function("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE = function("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FCNTL =
            function("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle OPEN =
            function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MMAP =
            function("mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private Descriptors() {}

    private static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type, options);
    }

    private interface Call {
        long make() throws Throwable;
    }

    private static long checked(String what, Call call) {
        long result;
        try {
            result = call.make();
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        if (result < 0) {
            throw new SluiceException("cannot hand memory to a tenant: " + what + " failed");
        }
        return result;
    }

    /// Memory that has no name in any folder.
    public static int memory(String name, long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            int descriptor = (int) checked("memfd_create", () -> (int) MEMFD_CREATE.invokeExact(text, MEMORY_CLOSE_ON_EXEC | MEMORY_ALLOW_SEALING));
            checked("ftruncate", () -> (int) FTRUNCATE.invokeExact(descriptor, bytes));
            return descriptor;
        }
    }

    /// From now on nobody can make it shorter or longer: who maps it is safe from that.
    public static void sealSize(int descriptor) {
        checked("sealing", () -> (int) FCNTL.invokeExact(descriptor, ADD_SEALS, SEAL_SIZE));
    }

    /// The same, and who has not mapped it for writing yet never will.
    public static void sealAgainstWriters(int descriptor) {
        checked("sealing (which needs Linux 5.1)", () -> (int) FCNTL.invokeExact(descriptor, ADD_SEALS, SEAL_SIZE | SEAL_FUTURE_WRITE));
    }

    /// Maps it for writing.
    public static MemorySegment map(int descriptor, long bytes, Arena arena) {
        long address = checked("mmap", () -> (long) MMAP.invokeExact(0L, bytes, READ_WRITE, SHARED, descriptor, 0L));
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena,
                mapped -> checked("munmap", () -> (int) MUNMAP.invokeExact(mapped.address(), bytes)));
    }

    /// Opens a file for reading and writing; a link is not followed.
    public static int open(Path file) {
        return open(file, OPEN_READ_WRITE);
    }

    /// Opens what a process has mapped.
    public static int openMapped(long pid, String address) {
        return open(Path.of("/proc", Long.toString(pid), "map_files", address), OPEN_FOLLOWING);
    }

    private static int open(Path file, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(file.toString());
            return (int) checked("open", () -> (int) OPEN.invokeExact(path, flags));
        }
    }

    public static boolean isSizeSealed(int descriptor) {
        return (checked("seals", () -> (int) FCNTL.invokeExact(descriptor, GET_SEALS, 0)) & SEAL_SIZE) == SEAL_SIZE;
    }

    /// By which the open file of this process can be opened again.
    public static Path file(int descriptor) {
        return Path.of("/proc/self/fd", Integer.toString(descriptor));
    }

    /// The number by which the kernel knows memory or a file.
    public static String number(int descriptor) {
        try {
            return String.valueOf(Files.getAttribute(file(descriptor), "unix:ino"));
        } catch (IOException e) {
            throw new SluiceException("cannot look at an open file (" + e.getMessage() + "); mount /proc", e);
        }
    }

    public static void close(int descriptor) {
        checked("close", () -> (int) CLOSE.invokeExact(descriptor));
    }
}
