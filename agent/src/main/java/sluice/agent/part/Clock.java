package sluice.agent.part;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Does something again and again in a thread of its own. What it throws is told once and does not end it.
public final class Clock implements AutoCloseable {
    private static final long CLOSE_MILLIS = 2000;

    /// Two actions are at least so far apart, however often one is wanted soon.
    private static final long APART_MILLIS = 250;

    private final Semaphore wakes = new Semaphore(0);
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread;
    private String told = "";

    public Clock(String name, long periodMillis, Runnable action, PrintStream log) {
        thread = Thread.ofPlatform().name(name).daemon().start(() -> run(name, periodMillis, action, log));
    }

    private void run(String name, long periodMillis, Runnable action, PrintStream log) {
        long first = Math.min(periodMillis, APART_MILLIS);
        try {
            while (stop.getCount() > 0) {
                once(name, action, log);
                if (!stop.await(first, TimeUnit.MILLISECONDS)) {
                    wakes.tryAcquire(periodMillis - first, TimeUnit.MILLISECONDS);
                    wakes.drainPermits();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// An InternalError is the JVM's word for a mapped page that is not there: somebody cut a file that was being read.
    private void once(String name, Runnable action, PrintStream log) {
        try {
            action.run();
        } catch (RuntimeException | InternalError e) {
            if (!e.toString().equals(told)) {
                told = e.toString();
                log.println("sluice: the agent's " + name + " failed: " + e + " at " + e.getStackTrace()[0]);
            }
        }
    }

    /// Does it before its time.
    public void soon() {
        wakes.release();
    }

    @Override
    public void close() {
        stop.countDown();
        wakes.release();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
