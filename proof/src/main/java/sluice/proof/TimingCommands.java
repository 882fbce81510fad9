package sluice.proof;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import sluice.cuda.Devices;
import sluice.cuda.Driver;
import sluice.cuda.Memory;
import sluice.cuda.Parameters;
import sluice.cuda.Status;
import sluice.cuda.Work;

/// What calls cost, in batches: the median over batches of the time per call. The calls are constants of this class, so
/// that the compiler sees through them, and the same batches run unmeasured until they are compiled.
final class TimingCommands {
    private static final Driver DRIVER = Driver.require(Driver.Route.DLSYM);
    private static final Devices DEVICES = DRIVER.devices();
    private static final Memory MEMORY = DRIVER.memory();
    private static final Work WORK = DRIVER.work();
    private static final MemorySegment OUT = Arena.global().allocate(JAVA_LONG);
    private static final MemorySegment OUT_TOO = Arena.global().allocate(JAVA_LONG);
    private static final long SMALL_BYTES = 512;
    private static final long WARM_UP_NANOS = 300_000_000;

    interface Batch {
        void run(int calls);
    }

    private TimingCommands() {}

    /// `launch BATCHES CALLS`, `info BATCHES CALLS` or `alloc-free BATCHES CALLS BYTES LIVE`.
    static Facts time(String[] arguments) {
        int batches = Integer.parseInt(arguments[1]);
        int calls = Integer.parseInt(arguments[2]);
        double nanos = switch (arguments[0]) {
            case "launch" -> launch(batches, calls);
            case "info" -> median(batches, calls, TimingCommands::infos, () -> { });
            case "alloc-free" -> allocFree(batches, calls, Long.parseLong(arguments[3]), Integer.parseInt(arguments[4]));
            default -> throw new IllegalArgumentException("cannot time '" + arguments[0] + "'");
        };
        return Facts.of("nanos", nanos);
    }

    private static double launch(int batches, int calls) {
        long module = WORK.load(Work.kernels()).orThrow("cuModuleLoadData");
        long function = WORK.function(module, "sluice_empty").orThrow("cuModuleGetFunction");
        MemorySegment none = Parameters.of(Arena.global()).pointers();
        return median(batches, calls, count -> launches(function, none, count), DEVICES::synchronize);
    }

    private static void launches(long function, MemorySegment none, int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            worst |= WORK.launch(function, 1, 1, 0, none);
        }
        Status.check("cuLaunchKernel", worst);
    }

    private static void infos(int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            worst |= MEMORY.infoInto(OUT, OUT_TOO);
        }
        Status.check("cuMemGetInfo", worst);
    }

    /// One small allocation is always held, so that the driver's block for small ones stays.
    private static double allocFree(int batches, int calls, long bytes, int live) {
        long[] held = new long[live + 1];
        for (int i = 0; i < held.length; i++) {
            held[i] = MEMORY.allocate(SMALL_BYTES).orThrow("cuMemAlloc");
        }
        double nanos = median(batches, calls, count -> allocsAndFrees(bytes, count), () -> { });
        for (long pointer : held) {
            Status.check("cuMemFree", MEMORY.free(pointer));
        }
        return nanos;
    }

    private static void allocsAndFrees(long bytes, int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            worst |= MEMORY.allocateInto(OUT, bytes);
            worst |= MEMORY.free(OUT.get(JAVA_LONG, 0));
        }
        Status.check("cuMemAlloc and cuMemFree", worst);
    }

    private static double median(int batches, int calls, Batch batch, Runnable between) {
        long warm = System.nanoTime() + WARM_UP_NANOS;
        while (System.nanoTime() < warm) {
            perCall(calls, batch);
            between.run();
        }
        double[] nanos = new double[batches];
        for (int i = 0; i < batches; i++) {
            nanos[i] = perCall(calls, batch);
            between.run();
        }
        Arrays.sort(nanos);
        return nanos[batches / 2];
    }

    private static double perCall(int calls, Batch batch) {
        long start = System.nanoTime();
        batch.run(calls);
        return (double) (System.nanoTime() - start) / calls;
    }
}
