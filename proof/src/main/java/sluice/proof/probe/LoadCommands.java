package sluice.proof.probe;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import sluice.cuda.Driver;
import sluice.cuda.Graphs;
import sluice.cuda.Status;
import sluice.cuda.Transfers;
import sluice.cuda.Work;
import sluice.proof.facts.Facts;
import sluice.proof.facts.Load;
import sluice.proof.probe.memory.Session;

/// Keeps the GPU busy for a while, in three steps, so that several processes can begin together: `prepare`, `calibrate`, `go`.
/// The called functions are constants, so that the compiler can inline them.
final class LoadCommands {
    private static final Driver DRIVER = Driver.require(Driver.Route.DLSYM);
    private static final Work WORK = DRIVER.work();
    private static final Graphs GRAPHS = DRIVER.graphs();
    private static final Transfers TRANSFERS = DRIVER.transfers();
    private static final long AHEAD_NANOS = 10_000_000;
    private static final long LONGEST_QUEUE = 500;
    private static final long SHORTEST_QUEUE = 4;
    private static final long LEAST_KERNEL_NANOS = 2000;
    private static final long JITTER_NANOS = 1_000_000;
    private static final long SHORT_FOR_NANOS = 1_200_000_000;

    private static Load load;
    private static long copyBytes;
    private static long millis;
    private static StampRing ring;
    private static MemorySegment parameters;
    private static long stream;

    private LoadCommands() {}

    /// `prepare KIND KERNEL-NANOS MILLIS COPY-BYTES`, `calibrate`, then `go FILE`.
    static Facts run(Session session, String verb, String[] arguments) throws IOException, InterruptedException {
        return switch (verb) {
            case "prepare" -> prepare(Load.parse(arguments[1], arguments[2]), Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
            case "calibrate" -> calibrate();
            case "go" -> go(session.context(), Path.of(arguments[1]));
            default -> throw new IllegalArgumentException("a load cannot '" + verb + "'");
        };
    }

    private static Facts prepare(Load wanted, long wantedMillis, long bytes) {
        load = wanted;
        millis = wantedMillis;
        copyBytes = bytes;
        long shortest = switch (load.kind()) {
            case UPLOADS, COPIES -> LEAST_KERNEL_NANOS;
            case LENGTHENED -> Load.SHORT_NANOS;
            default -> Math.max(LEAST_KERNEL_NANOS, load.kernelNanos());
        };
        long streams = switch (load.kind()) {
            case STREAMS -> Load.STREAMS;
            case THREADS -> Load.THREADS;
            default -> 1;
        };
        ring = StampRing.uncalibrated(millis * 1_200_000 / shortest * streams + 10_000);
        parameters = ring.parameters(load.kind().isBracketed() ? 0 : load.kernelNanos());
        stream = WORK.createStream().orThrow("cuStreamCreate");
        return Facts.of("status", Status.SUCCESS);
    }

    private static Facts calibrate() {
        ring = ring.calibrated();
        return Facts.of("status", Status.SUCCESS);
    }

    private static Facts go(long context, Path file) throws IOException, InterruptedException {
        long began = System.nanoTime();
        long deadline = began + millis * 1_000_000;
        List<Long> responses = new ArrayList<>();
        long starved = Starvation.nanos();
        long kernels = switch (load.kind()) {
            case LAUNCHES -> launches(deadline);
            case SYNCED -> synced(deadline);
            case GRAPH -> graph(deadline);
            case STREAMS -> streams(deadline);
            case THREADS -> threads(context, deadline);
            case LENGTHENED -> lengthened(began + SHORT_FOR_NANOS, deadline);
            case UPLOADS, COPIES -> copies(deadline);
            case BURSTS -> bursts(deadline, responses, 0);
            case SINGLES, TENS -> bursts(deadline, responses, JITTER_NANOS);
        };
        Status.check("cuCtxSynchronize", DRIVER.devices().synchronize());
        starved = Starvation.nanos() - starved;
        ring.save(file);
        StampRing.Clock clock = ring.clock();
        return Facts.of("began", began + clock.offsetNanos(), "ended", deadline + clock.offsetNanos(), "offset", clock.offsetNanos(),
                "clock-error", clock.errorNanos(), "kernels", kernels, "places", ring.places(), "starved", starved,
                "responses", responses.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    /// How many kernels are submitted before the first of them has begun: enough for some milliseconds.
    private static long ahead(long kernelNanos) {
        return Math.clamp(AHEAD_NANOS / kernelNanos, SHORTEST_QUEUE, LONGEST_QUEUE);
    }

    private static void launch(long into) {
        Status.check("launch of sluice_stamp", WORK.launch(ring.stamp(), 1, 1, into, parameters));
    }

    private static long launches(long deadline) {
        return launches(0, load.kernelNanos(), deadline);
    }

    private static long launches(long before, long kernelNanos, long deadline) {
        long ahead = ahead(kernelNanos);
        long kernels = before;
        for (; System.nanoTime() < deadline; kernels++) {
            ring.awaitQueued(kernels, ahead);
            launch(stream);
        }
        return kernels;
    }

    /// One and the same kernel, which from a moment on takes longer.
    private static long lengthened(long change, long deadline) {
        MemorySegment longer = parameters;
        parameters = ring.parameters(Load.SHORT_NANOS);
        long kernels = launches(0, Load.SHORT_NANOS, change);
        parameters = longer;
        return launches(kernels, load.kernelNanos(), deadline);
    }

    private static long synced(long deadline) {
        return synced(stream, deadline);
    }

    private static long synced(long stream, long deadline) {
        long kernels = 0;
        for (; System.nanoTime() < deadline; kernels++) {
            launch(stream);
            Status.check("cuStreamSynchronize", WORK.synchronizeStream(stream));
        }
        return kernels;
    }

    private static long streams(long deadline) {
        long[] all = new long[Load.STREAMS];
        for (int i = 0; i < all.length; i++) {
            all[i] = WORK.createStream().orThrow("cuStreamCreate");
        }
        long ahead = ahead(load.kernelNanos()) * Load.STREAMS;
        long kernels = 0;
        for (; System.nanoTime() < deadline; kernels++) {
            ring.awaitQueued(kernels, ahead);
            launch(all[(int) (kernels % all.length)]);
        }
        return kernels;
    }

    /// Each thread waits for the work in its own default stream.
    private static long threads(long context, long deadline) throws InterruptedException {
        try (var threads = Executors.newFixedThreadPool(Load.THREADS)) {
            Callable<Long> one = () -> {
                Status.check("cuCtxSetCurrent", DRIVER.devices().setCurrent(context));
                return synced(Work.PER_THREAD_STREAM, deadline);
            };
            return threads.invokeAll(Collections.nCopies(Load.THREADS, one)).stream().mapToLong(Future::resultNow).sum();
        }
    }

    private static long graph(long deadline) {
        long graph = GRAPHS.create().orThrow("cuGraphCreate");
        try (Arena arena = Arena.ofConfined()) {
            long node = 0;
            for (int i = 0; i < Load.GRAPH_KERNELS; i++) {
                node = GRAPHS.addKernel(graph, node, ring.stamp(), 1, 1, ring.kernel(arena, load.kernelNanos()))
                        .orThrow("cuGraphAddKernelNode");
            }
        }
        long executable = GRAPHS.instantiate(graph).orThrow("cuGraphInstantiateWithFlags");
        long ahead = ahead(load.kernelNanos() * Load.GRAPH_KERNELS) * Load.GRAPH_KERNELS;
        long kernels = 0;
        for (; System.nanoTime() < deadline; kernels += Load.GRAPH_KERNELS) {
            ring.awaitQueued(kernels, ahead);
            Status.check("cuGraphLaunch", GRAPHS.launch(executable, stream));
        }
        return kernels;
    }

    /// Each copy between two stamps.
    private static long copies(long deadline) {
        boolean up = load.kind() == Load.Kind.UPLOADS;
        long from = up
                ? TRANSFERS.allocatePinned(copyBytes).orThrow("cuMemHostAlloc")
                : DRIVER.memory().allocate(copyBytes).orThrow("cuMemAlloc");
        long to = DRIVER.memory().allocate(copyBytes).orThrow("cuMemAlloc");
        long kernels = 0;
        for (; System.nanoTime() < deadline; kernels += 2) {
            ring.awaitQueued(kernels, 2 * SHORTEST_QUEUE);
            launch(stream);
            Status.check("copy", up
                    ? TRANSFERS.copyToDevice(to, from, copyBytes, stream)
                    : TRANSFERS.copyOnDevice(to, from, copyBytes, stream));
            launch(stream);
        }
        return kernels;
    }

    /// A burst at each beat. One that is late because the last one took too long waits since its beat.
    ///
    /// @param jitterNanos how much sooner or later than the beat, so that bursts meet the work of others at any moment
    private static long bursts(long deadline, List<Long> responses, long jitterNanos) {
        long kernels = 0;
        Random random = new Random(1);
        for (long beat = System.nanoTime(); beat < deadline; beat += Load.BURST_PERIOD_NANOS + random.nextLong(-jitterNanos, jitterNanos + 1)) {
            long asked = beat;
            while (System.nanoTime() < beat) {
                LockSupport.parkNanos(beat - System.nanoTime());
                asked = System.nanoTime();
            }
            for (int i = 0; i < load.kind().burstKernels(); i++) {
                launch(stream);
            }
            Status.check("cuStreamSynchronize", WORK.synchronizeStream(stream));
            responses.add(System.nanoTime() - asked);
            kernels += load.kind().burstKernels();
        }
        return kernels;
    }
}
