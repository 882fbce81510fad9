package sluice.proof.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import sluice.cuda.Driver;
import sluice.cuda.Memory;
import sluice.cuda.Status;
import sluice.cuda.VirtualMemory;
import sluice.cuda.Work;
import sluice.proof.probe.TimingCommands.Series;

/// The cost of stream-ordered and of physical memory. As in [TimingCommands], the called functions are constants.
final class MoreTimings {
    private static final Driver DRIVER = Driver.require(Driver.Route.DLSYM);
    private static final Memory MEMORY = DRIVER.memory();
    private static final VirtualMemory VIRTUAL = DRIVER.virtualMemory();
    private static final Work WORK = DRIVER.work();
    private static final MemorySegment OUT = Arena.global().allocate(JAVA_LONG);
    private static final int DEVICE = 0;

    private MoreTimings() {}

    /// The pool keeps freed memory, as in a program that has warmed up.
    static Series async(int calls, long bytes) {
        long stream = WORK.createStream().orThrow("cuStreamCreate");
        long pool = DRIVER.pools().ofDevice(DEVICE).orThrow("cuDeviceGetDefaultMemPool");
        Status.check("cuMemPoolSetAttribute", DRIVER.pools().keep(pool, Long.MAX_VALUE));
        return new Series(count -> asyncs(bytes, stream, count), calls,
                () -> Status.check("cuStreamSynchronize", WORK.synchronizeStream(stream)), new long[0]);
    }

    private static void asyncs(long bytes, long stream, int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            worst |= MEMORY.allocateAsyncInto(OUT, bytes, stream);
            worst |= MEMORY.freeAsync(OUT.get(JAVA_LONG, 0), stream);
        }
        Status.check("cuMemAllocAsync and cuMemFreeAsync", worst);
    }

    static Series physical(int calls, long bytes) {
        long pointer = VIRTUAL.reserve(bytes).orThrow("cuMemAddressReserve");
        return new Series(count -> mappings(pointer, bytes, count), calls, () -> { }, new long[0]);
    }

    private static void mappings(long pointer, long bytes, int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            long handle = VIRTUAL.create(bytes, DEVICE).orThrow("cuMemCreate");
            worst |= VIRTUAL.map(pointer, bytes, handle);
            worst |= VIRTUAL.allowAccess(pointer, bytes, DEVICE);
            worst |= VIRTUAL.unmap(pointer, bytes);
            worst |= VIRTUAL.release(handle);
        }
        Status.check("cuMemCreate, map, access, unmap, release", worst);
    }
}
