package sluice.proof.probe;

import java.lang.foreign.MemorySegment;
import sluice.cuda.Driver;
import sluice.cuda.Status;
import sluice.cuda.Work;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// Short kernels one after the other from a thread of their own, until the process ends. The kernels count themselves in a word of host
/// memory, so the count can be asked for without calling the driver.
final class SteadyCommands {
    private static final long QUEUED = 4;
    private static final long PLACES = 64;

    private static volatile StampRing ring;
    private static volatile String failure = "";

    private SteadyCommands() {}

    /// `steady begin KERNEL-NANOS`, then `steady count`.
    static Facts run(Session session, String verb, long[] numbers) {
        switch (verb) {
            case "begin" -> begin(session, numbers[0]);
            case "count" -> { }
            default -> throw new IllegalArgumentException("steady work has no command '" + verb + "'");
        }
        return failure.isEmpty() ? Facts.of("kernels", ring.begunKernels()) : Facts.of("error", failure);
    }

    private static void begin(Session session, long kernelNanos) {
        ring = StampRing.make(PLACES);
        MemorySegment parameters = ring.parameters(kernelNanos);
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Status.check("cuCtxSetCurrent", session.driver().devices().setCurrent(session.context()));
                work(session.driver(), parameters);
            } catch (RuntimeException failed) {
                failure = failed.toString();
            }
        });
    }

    private static void work(Driver driver, MemorySegment parameters) {
        Work work = driver.work();
        long stream = work.createStream().orThrow("cuStreamCreate");
        for (long submitted = 1; true; submitted++) {
            Status.check("launch of sluice_stamp", work.launch(ring.stamp(), 1, 1, stream, parameters));
            ring.awaitQueued(submitted, QUEUED);
        }
    }
}
