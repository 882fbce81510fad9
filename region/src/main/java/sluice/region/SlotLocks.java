package sluice.region;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// Asks the kernel who holds the locks of slots (rule 6 of `spec/region.abi`): the owner of a slot lives as long as it does, in whatever pid
/// namespace it is. The file is opened when the first question comes.
@SuppressWarnings("restricted")
final class SlotLocks implements AutoCloseable {
    private static final int NOT_OPEN = -2;
    private static final int OFD_GETLK = 36;
    private static final short WRITE_LOCK = 1;
    private static final short UNLOCKED = 2;
    /// Of `struct flock`: type, whence, start, length, pid.
    private static final int FLOCK_BYTES = 32;
    private static final int START = 8;
    private static final int LENGTH = 16;

    private final Path region;
    private int file = NOT_OPEN;

    SlotLocks(Path region) {
        this.region = region;
    }

    /// Only who asks pays for the method handle.
    private static final class Fcntl {
        private static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(
                Linker.nativeLinker().defaultLookup().find("fcntl").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), Linker.Option.firstVariadicArg(2));
    }

    /// Whether the lock of a slot is held; also true where the kernel does not say.
    boolean isHeld(int slot) {
        if (file == NOT_OPEN) {
            file = open();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
            lock.set(JAVA_SHORT, 0, WRITE_LOCK);
            lock.set(JAVA_LONG, START, RegionLayout.SLOT_OFFSET + (long) slot * RegionLayout.SLOT_BYTES);
            lock.set(JAVA_LONG, LENGTH, 1);
            return file < 0 || (int) Fcntl.HANDLE.invokeExact(file, OFD_GETLK, lock) != 0 || lock.get(JAVA_SHORT, 0) != UNLOCKED;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private int open() {
        try {
            return SplitRegion.open(Region.isSplit(region) ? RegionFile.ledger(region) : region, false);
        } catch (IOException e) {
            return -1;
        }
    }

    @Override
    public void close() {
        if (file >= 0) {
            SplitRegion.close(file);
        }
        file = NOT_OPEN;
    }
}
