package sluice.proof.stage;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Ctrl-C while a proof runs: the processes that it started end and its folders are deleted before this process ends. Later failures say
/// nothing about Sluice.
public final class Interruption {
    private static final long PATIENCE_SECONDS = 10;
    private static final long LOOK_MILLIS = 20;
    /// The signal also goes to the processes that were started; one of them may be gone before this one learns of it.
    private static final long LATE_MILLIS = 300;

    private static final Set<Stage> OPEN = ConcurrentHashMap.newKeySet();
    private static final CountDownLatch BEGUN = new CountDownLatch(1);
    private static boolean watching;

    private Interruption() {}

    static synchronized void enter(Stage stage) {
        if (BEGUN.getCount() == 0) {
            throw new Interrupted();
        }
        if (!watching) {
            watch();
        }
        OPEN.add(stage);
    }

    private static void watch() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(Interruption::end));
            watching = true;
        } catch (IllegalStateException shuttingDown) {
            throw new Interrupted();
        }
    }

    static void leave(Stage stage) {
        OPEN.remove(stage);
    }

    /// To be called after a failure, before it is reported.
    public static void rethrow() {
        try {
            BEGUN.await(LATE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException woken) {
            Thread.currentThread().interrupt();
        }
        if (BEGUN.getCount() == 0) {
            throw new Interrupted();
        }
    }

    /// Threads that wait for a process find it ended, or are woken; then they close their stages themselves.
    private static void end() {
        synchronized (Interruption.class) {
            BEGUN.countDown();
        }
        if (OPEN.isEmpty()) {
            return;
        }
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!OPEN.isEmpty() && System.nanoTime() < until) {
            OPEN.forEach(Stage::wake);
            killStarted();
            pause();
        }
        OPEN.forEach(Stage::end);
        killStarted();
    }

    private static void killStarted() {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
    }

    static void pause() {
        try {
            Thread.sleep(LOOK_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
