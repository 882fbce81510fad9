package sluice.region;

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

/// A region in two files, for a tenant that must not write its limits: page 0 in `NAME.region`, which is the agent's alone, and
/// the rest in `NAME.ledger`, at the same places as in a whole region. In memory they are one again.
@SuppressWarnings("restricted")
final class SplitRegion {
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int SHARED = 1;
    private static final int FIXED = 0x10;
    private static final int READ_WRITE_FILE = 2;
    private static final int NO_FOLLOW = 0x20000;
    private static final int CLOSE_ON_EXEC = 0x80000;
    /// A pipe would wait for its other end.
    private static final int NO_WAIT = 0x800;

    private static final MethodHandle OPEN = function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle MMAP =
            function("mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = function("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    private SplitRegion() {}

    private static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type, options);
    }

    /// Maps both. @return nothing to see when the ledger is not whole
    static MemorySegment map(Path region, boolean write, Arena arena) throws IOException {
        Path ledger = RegionFile.ledger(region);
        if (Files.size(ledger) < RegionLayout.REGION_BYTES) {
            return MemorySegment.NULL;
        }
        long base = map(ledger, 0, RegionLayout.REGION_BYTES, write, SHARED);
        try {
            map(region, base, RegionLayout.PAGE_BYTES, write, SHARED | FIXED);
        } catch (IOException e) {
            unmap(base);
            throw e;
        }
        return MemorySegment.ofAddress(base).reinterpret(RegionLayout.REGION_BYTES, arena, mapped -> unmap(mapped.address()));
    }

    private static long map(Path file, long address, long bytes, boolean write, int flags) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), (write ? READ_WRITE_FILE : 0) | NO_FOLLOW | CLOSE_ON_EXEC | NO_WAIT);
            if (fd < 0) {
                throw new IOException("cannot open " + file.getFileName());
            }
            long mapped = (long) MMAP.invokeExact(address, bytes, write ? READ | WRITE : READ, flags, fd, 0L);
            int ignored = (int) CLOSE.invokeExact(fd);
            if (mapped == -1) {
                throw new IOException("cannot map " + file.getFileName());
            }
            return mapped;
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static void unmap(long address) {
        try {
            int ignored = (int) MUNMAP.invokeExact(address, RegionLayout.REGION_BYTES);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
