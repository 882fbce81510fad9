package sluice.proof.probe;

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
import sluice.proof.facts.Facts;

/// The cost of calls. A test begins a series, which warms up until it is compiled. It then asks for slices, so that two processes can take
/// turns, and ends it. The calls are constants of this class, so that the compiler can inline them. Noise only adds time, so a slice
/// reports the lower quartile of its batches.
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

    /// @param between after each batch, and not timed
    record Series(Batch batch, int calls, Runnable between, long[] held) {}

    private static Series series;

    private TimingCommands() {}

    /// `launch CALLS`, `info CALLS`, `alloc-free CALLS BYTES LIVE`, `free CALLS BYTES LIVE`, `async CALLS BYTES` or
    /// `physical CALLS BYTES`, with CALLS in each batch.
    static Facts begin(String[] arguments) {
        int calls = Integer.parseInt(arguments[1]);
        series = switch (arguments[0]) {
            case "launch" -> launch(calls);
            case "info" -> new Series(TimingCommands::infos, calls, () -> { }, new long[0]);
            case "alloc-free" -> allocFree(calls, Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]));
            case "free" -> free(calls, Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]));
            case "async" -> MoreTimings.async(calls, Long.parseLong(arguments[2]));
            case "physical" -> MoreTimings.physical(calls, Long.parseLong(arguments[2]));
            default -> throw new IllegalArgumentException("cannot time '" + arguments[0] + "'");
        };
        long warm = System.nanoTime() + WARM_UP_NANOS;
        while (System.nanoTime() < warm) {
            nanosPerCall();
        }
        return Facts.of("status", Status.SUCCESS);
    }

    static Facts slice(int batches) {
        double[] nanos = new double[batches];
        for (int i = 0; i < batches; i++) {
            nanos[i] = nanosPerCall();
        }
        Arrays.sort(nanos);
        return Facts.of("nanos", nanos[batches / 4]);
    }

    static Facts end() {
        for (long pointer : series.held()) {
            Status.check("cuMemFree", MEMORY.free(pointer));
        }
        series = null;
        return Facts.of("status", Status.SUCCESS);
    }

    private static double nanosPerCall() {
        long start = System.nanoTime();
        series.batch().run(series.calls());
        double nanos = (double) (System.nanoTime() - start) / series.calls();
        series.between().run();
        return nanos;
    }

    private static Series launch(int calls) {
        long module = WORK.load(Work.kernels()).orThrow("cuModuleLoadData");
        long function = WORK.function(module, "sluice_empty").orThrow("cuModuleGetFunction");
        MemorySegment none = Parameters.of(Arena.global()).pointers();
        return new Series(count -> launches(function, none, count), calls, DEVICES::synchronize, new long[0]);
    }

    /// One small allocation is always held, so that the driver's block for small ones stays.
    private static Series allocFree(int calls, long bytes, int live) {
        long[] held = new long[live + 1];
        for (int i = 0; i < held.length; i++) {
            held[i] = MEMORY.allocate(SMALL_BYTES).orThrow("cuMemAlloc");
        }
        return new Series(count -> allocsAndFrees(bytes, count), calls, () -> { }, held);
    }

    /// The memory to free is allocated before each batch, which is not timed.
    private static Series free(int calls, long bytes, int live) {
        long[] pieces = new long[calls];
        Runnable allocate = () -> Arrays.setAll(pieces, i -> MEMORY.allocate(bytes).orThrow("cuMemAlloc"));
        Series others = allocFree(calls, bytes, live);
        allocate.run();
        return new Series(count -> frees(pieces), calls, allocate, others.held());
    }

    private static void frees(long[] pieces) {
        int worst = Status.SUCCESS;
        for (long pointer : pieces) {
            worst |= MEMORY.free(pointer);
        }
        Status.check("cuMemFree", worst);
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

    private static void allocsAndFrees(long bytes, int count) {
        int worst = Status.SUCCESS;
        for (int i = 0; i < count; i++) {
            worst |= MEMORY.allocateInto(OUT, bytes);
            worst |= MEMORY.free(OUT.get(JAVA_LONG, 0));
        }
        Status.check("cuMemAlloc and cuMemFree", worst);
    }
}
