package sluice.region.place;

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
import sluice.region.layout.RegionLayout;

/// Holds the lock of a slot, as the library of its owner does.
public record HeldLock(int file) implements AutoCloseable {
    private static final int OFD_SETLK = 37;
    private static final int READ_WRITE = 2;

    public static HeldLock of(Path region, int slot) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(region.toString());
            HeldLock held = new HeldLock((int) function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT)).invokeExact(path, READ_WRITE));
            MemorySegment lock = arena.allocate(32, Long.BYTES);
            lock.set(JAVA_SHORT, 0, (short) 1);
            lock.set(JAVA_LONG, 8, RegionLayout.SLOT_OFFSET + (long) slot * RegionLayout.SLOT_BYTES);
            lock.set(JAVA_LONG, 16, 1);
            int failed = (int) function("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS)).invokeExact(held.file, OFD_SETLK, lock);
            if (failed != 0) {
                throw new IllegalStateException("the slot is locked");
            }
            return held;
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type, Linker.Option.firstVariadicArg(Math.min(2, type.argumentLayouts().size())));
    }

    @Override
    public void close() {
        try {
            int ignored = (int) function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT)).invokeExact(file);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
