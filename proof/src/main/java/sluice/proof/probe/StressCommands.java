package sluice.proof.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import sluice.cuda.CallResult;
import sluice.cuda.Memory;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// Allocating and freeing as fast as it goes.
final class StressCommands {
    private static final long MAXIMUM_BYTES = 3L << 20;

    private StressCommands() {}

    /// Threads that each allocate and free in their own order; at the end everything is freed.
    static Facts threads(Session session, long threads, long rounds) throws InterruptedException {
        AtomicInteger failures = new AtomicInteger();
        List<Thread> running = new ArrayList<>();
        for (long seed = 0; seed < threads; seed++) {
            Random random = new Random(seed);
            running.add(Thread.ofPlatform().start(() -> failures.addAndGet(rounds(session, random, rounds))));
        }
        for (Thread thread : running) {
            thread.join();
        }
        return Facts.of("failures", failures.get());
    }

    /// Starts a thread that allocates and frees for as long as the process lives.
    static Facts churn(Session session, long seed) {
        Random random = new Random(seed);
        Thread.ofPlatform().daemon().start(() -> rounds(session, random, Long.MAX_VALUE));
        return Facts.of("started", true);
    }

    private static int rounds(Session session, Random random, long rounds) {
        Memory memory = session.driver().memory();
        int failures = session.driver().devices().setCurrent(session.context());
        List<Long> held = new ArrayList<>();
        for (long round = 0; round < rounds; round++) {
            if (held.size() < 16 && random.nextBoolean()) {
                CallResult allocated = memory.allocate(1 + random.nextLong(MAXIMUM_BYTES));
                failures += allocated.ok() && held.add(allocated.value()) ? 0 : 1;
            } else if (!held.isEmpty()) {
                failures += memory.free(held.remove(random.nextInt(held.size()))) == 0 ? 0 : 1;
            }
        }
        for (long pointer : held) {
            failures += memory.free(pointer) == 0 ? 0 : 1;
        }
        return failures;
    }
}
