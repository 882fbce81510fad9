package sluice.proof.probe;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import sluice.cuda.Status;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// Allocating and freeing at random, in a thread of its own, until the process is told to be quiet or to stop.
final class SoakCommands {
    /// Held during each step, and by the conversation while the process is quiet.
    private static final ReentrantLock STEP = new ReentrantLock(true);

    private static final int STEPS_AT_A_TIME = 4;
    private static final long REST_NANOS = 1_000_000;
    private static final long NOW_AND_THEN_MILLIS = 150;

    private static volatile SoakWork work;
    private static volatile String failure = "";
    private static volatile long steps;
    private static volatile long refusals;

    private SoakCommands() {}

    static Facts run(Session session, String verb, long[] numbers) throws InterruptedException {
        switch (verb) {
            case "start" -> start(session, numbers[0], numbers[1] != 0);
            case "quiet" -> quiet(session);
            case "go" -> STEP.unlock();
            case "prepare" -> work = new SoakWork(session, numbers[0], numbers[1] != 0);
            case "step" -> step();
            case "drain" -> drain(session);
            default -> throw new IllegalArgumentException("a soak has no command '" + verb + "'");
        }
        return Facts.of("status", Status.SUCCESS, "steps", steps, "refusals", refusals, "failure", failure, "last", work.last());
    }

    private static void start(Session session, long seed, boolean contexts) {
        work = new SoakWork(session, seed, contexts);
        Thread.ofPlatform().daemon().start(() -> {
            session.driver().devices().setCurrent(session.context());
            while (failure.isEmpty()) {
                step();
                rest();
            }
        });
    }

    /// Leaves the processor to other processes from time to time; otherwise sixteen of these would use all processors.
    private static void rest() {
        if (steps % STEPS_AT_A_TIME == 0) {
            LockSupport.parkNanos(REST_NANOS);
        }
    }

    private static void step() {
        STEP.lock();
        try {
            int status = work.step();
            steps++;
            refusals += status == Status.OUT_OF_MEMORY ? 1 : 0;
            if (status != Status.SUCCESS && status != Status.OUT_OF_MEMORY) {
                failure = work.last() + " answered " + status + " (" + Status.name(status) + ")";
            }
        } catch (RuntimeException | Error failed) {
            failure = work.last() + ": " + failed;
        } finally {
            STEP.unlock();
        }
    }

    /// The driver gives memory freed in a stream back only when the program waits for the stream. The library reads the driver's own use only
    /// from time to time, so some time must pass before the next call shows it.
    private static void quiet(Session session) throws InterruptedException {
        STEP.lock();
        Status.check("cuStreamSynchronize", session.driver().work().synchronizeStream(session.stream()));
        Thread.sleep(NOW_AND_THEN_MILLIS);
        Status.check("cuMemGetInfo", session.driver().memory().info().status());
    }

    private static void drain(Session session) {
        Status.check("freeing everything", work.freeAll());
        Status.check("cuStreamSynchronize", session.driver().work().synchronizeStream(session.stream()));
        Status.check("cuDeviceGraphMemTrim", session.driver().graphs().trim(session.device()));
    }
}
