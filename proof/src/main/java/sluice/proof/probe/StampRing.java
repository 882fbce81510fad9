package sluice.proof.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;
import sluice.cuda.Driver;
import sluice.cuda.Memory;
import sluice.cuda.Parameters;
import sluice.cuda.Status;
import sluice.cuda.Transfers;
import sluice.cuda.Work;

/// Where `sluice_stamp` notes when kernels ran. It is in the GPU's memory, so that noting costs a kernel nothing. A word of host memory
/// counts the begun kernels too. So a program can stay ahead of the GPU without a call of the driver.
///
/// @param pointer of the ring on the device
/// @param begun   the host's word
/// @param clock   added to this process's nanoTime, it gives the GPU's clock
record StampRing(long pointer, long places, MemorySegment begun, long stamp, Clock clock) {
    private static final Driver DRIVER = Driver.require(Driver.Route.DLSYM);
    private static final Memory MEMORY = DRIVER.memory();
    private static final Work WORK = DRIVER.work();
    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long HEADER_BYTES = 16;
    private static final long PLACE_BYTES = 16;
    private static final int CALIBRATIONS = 20;
    /// Of another shape than the loads, so that these short kernels are not mistaken for theirs.
    private static final int CALIBRATION_THREADS = 32;
    private static final long NAP_NANOS = 50_000;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    /// @param errorNanos how wrong it may be
    record Clock(long offsetNanos, long errorNanos) {}

    static StampRing make(long places) {
        return uncalibrated(places).calibrated();
    }

    static StampRing uncalibrated(long places) {
        long module = WORK.load(Work.kernels()).orThrow("cuModuleLoadData");
        long stamp = WORK.function(module, "sluice_stamp").orThrow("cuModuleGetFunction sluice_stamp");
        long word = DRIVER.transfers().allocatePinned(Long.BYTES).orThrow("cuMemHostAlloc");
        long pointer = MEMORY.allocate(HEADER_BYTES + places * PLACE_BYTES).orThrow("cuMemAlloc");
        return new StampRing(pointer, places, Transfers.segment(word, Long.BYTES), stamp, new Clock(0, 0));
    }

    /// The same, empty, with the clock as it is now.
    StampRing calibrated() {
        Clock now = calibrate();
        clear();
        return new StampRing(pointer, places, begun, stamp, now);
    }

    /// Arguments for a kernel that takes this time.
    MemorySegment parameters(long kernelNanos) {
        return kernel(Arena.global(), kernelNanos).pointers();
    }

    Parameters kernel(Arena arena, long kernelNanos) {
        return Parameters.of(arena, kernelNanos, pointer, places);
    }

    long begunKernels() {
        return (long) WORD.getVolatile(begun, 0L);
    }

    /// Returns when no more than this many of the submitted kernels have yet to begin.
    void awaitQueued(long submitted, long most) {
        if (submitted - begunKernels() <= most) {
            return;
        }
        long patience = System.nanoTime() + PATIENCE_NANOS;
        while (submitted - begunKernels() > most) {
            LockSupport.parkNanos(NAP_NANOS);
            if (System.nanoTime() > patience) {
                throw new IllegalStateException("no kernel began for " + PATIENCE_NANOS / 1_000_000_000 + " s; "
                        + begunKernels() + " of " + submitted + " did");
            }
        }
    }

    /// A kernel of no length lies between two looks at the host's clock; the closest two tell most.
    private Clock calibrate() {
        clear();
        MemorySegment none = parameters(0);
        long[] before = new long[CALIBRATIONS];
        long[] after = new long[CALIBRATIONS];
        for (int i = 0; i < CALIBRATIONS; i++) {
            before[i] = System.nanoTime();
            Status.check("launch of sluice_stamp", WORK.launch(stamp, 1, CALIBRATION_THREADS, 0, none));
            Status.check("cuStreamSynchronize", WORK.synchronizeStream(0));
            after[i] = System.nanoTime();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stamps = read(arena);
            int best = 0;
            for (int i = 1; i < CALIBRATIONS; i++) {
                best = after[i] - before[i] < after[best] - before[best] ? i : best;
            }
            long middle = before[best] + (after[best] - before[best]) / 2;
            return new Clock(stamps.getAtIndex(JAVA_LONG, 2L * best) - middle, (after[best] - before[best]) / 2);
        }
    }

    /// Empties the ring, and sets the address at which it counts begun kernels.
    private void clear() {
        try (Arena arena = Arena.ofConfined()) {
            WORD.setVolatile(begun, 0L, 0L);
            Status.check("cuMemcpyHtoD", MEMORY.copyToDevice(pointer, arena.allocateFrom(JAVA_LONG, 0, begun.address())));
        }
    }

    /// Begin and end of each kernel, in the order in which they began.
    private MemorySegment read(Arena arena) {
        MemorySegment count = arena.allocate(JAVA_LONG);
        Status.check("cuMemcpyDtoH", MEMORY.copyToHost(count, pointer));
        MemorySegment stamps = arena.allocate(Math.max(1, Math.min(count.get(JAVA_LONG, 0), places)) * PLACE_BYTES);
        Status.check("cuMemcpyDtoH", MEMORY.copyToHost(stamps, pointer + HEADER_BYTES));
        return stamps;
    }

    void save(Path file) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            MemorySegment stamps = read(arena);
            for (var bytes = stamps.asByteBuffer(); bytes.hasRemaining();) {
                channel.write(bytes);
            }
        }
    }
}
