package sluice.region;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// Whether processes that took places in a shared file still live. Each holds a lock on a byte of the file, in whatever pid namespace it
/// runs; the kernel drops the lock with the process. `native/src/os/life.h` has the rules.
@SuppressWarnings("restricted")
final class Life implements AutoCloseable {
    /// What the kernel says about a place.
    enum State { UNKNOWN, ENDED, HELD }

    private static final int CLOSE_ON_EXEC = 0x80000;
    private static final int NO_WAIT = 0x800;
    private static final int GET_LOCK = 36;
    private static final short WRITE_LOCK = 1;
    private static final short UNLOCKED = 2;
    private static final long FLOCK_BYTES = 32;
    private static final long START_OFFSET = 8;
    private static final long LENGTH_OFFSET = 16;
    private static final int NOT_OPEN = -1;

    private static final MethodHandle OPEN = function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FCNTL = function("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle CLOSE =
            Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().find("close").orElseThrow(), FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final Path file;
    private final Arena arena = Arena.ofConfined();
    private int descriptor = NOT_OPEN;

    /// Opens the file when it is first asked about.
    Life(Path file) {
        this.file = file;
    }

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type, Linker.Option.firstVariadicArg(2));
    }

    /// Whether any process has the place.
    State of(long place) {
        try {
            if (descriptor == NOT_OPEN) {
                descriptor = (int) OPEN.invokeExact(arena.allocateFrom(file.toString()), CLOSE_ON_EXEC | NO_WAIT);
            }
            MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
            lock.set(JAVA_SHORT, 0, WRITE_LOCK);
            lock.set(JAVA_LONG, START_OFFSET, place);
            lock.set(JAVA_LONG, LENGTH_OFFSET, 1);
            int failed = descriptor < 0 ? -1 : (int) FCNTL.invokeExact(descriptor, GET_LOCK, lock);
            return failed != 0 ? State.UNKNOWN : lock.get(JAVA_SHORT, 0) == UNLOCKED ? State.ENDED : State.HELD;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            int ignored = descriptor < 0 ? 0 : (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        } finally {
            arena.close();
        }
    }
}
