package sluice.region;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/// Holds the lock of a slot, as the library of its owner does.
record HeldLock(int file) implements AutoCloseable {
    private static final int OFD_SETLK = 37;

    @SuppressWarnings("restricted")
    static HeldLock of(Path region, int slot) throws Throwable {
        HeldLock held = new HeldLock(SplitRegion.open(region, true));
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment lock = arena.allocate(32, Long.BYTES);
            lock.set(JAVA_SHORT, 0, (short) 1);
            lock.set(JAVA_LONG, 8, RegionLayout.SLOT_OFFSET + (long) slot * RegionLayout.SLOT_BYTES);
            lock.set(JAVA_LONG, 16, 1);
            int failed = (int) linker.downcallHandle(linker.defaultLookup().find("fcntl").orElseThrow(),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS), Linker.Option.firstVariadicArg(2))
                    .invokeExact(held.file, OFD_SETLK, lock);
            if (failed != 0) {
                throw new IllegalStateException("the slot is locked");
            }
        }
        return held;
    }

    @Override
    public void close() {
        SplitRegion.close(file);
    }
}
