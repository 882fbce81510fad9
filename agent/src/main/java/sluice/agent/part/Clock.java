package sluice.agent.part;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Repeats an action in a thread of its own. An exception is reported once and does not end the thread; while the action fails, the thread
/// repeats it after a growing pause.
///
/// It takes at most a fortieth of a core: an expensive action, such as a look at a thousand tenants, runs less often than its period. So
/// no user can keep the agent busy by many files.
public final class Clock implements AutoCloseable {
    private static final long CLOSE_MILLIS = 2000;
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 30_000;
    private static final long LONGEST_REST_MILLIS = 10_000;
    private static final int REST_TIMES = 39;

    /// The least time between two actions, however often a caller asks for one.
    private static final long APART_MILLIS = 250;

    private final Semaphore wakes = new Semaphore(0);
    private final CountDownLatch stop = new CountDownLatch(1);
    private final String name;
    private final long periodMillis;
    private final Runnable action;
    private final Health.Pulse pulse;
    private final PrintStream log;
    private final Thread thread;
    private final CpuCost cost = new CpuCost();
    private String told = "";

    public Clock(String name, long periodMillis, Runnable action, Health health, PrintStream log) {
        this.name = name;
        this.periodMillis = periodMillis;
        this.action = action;
        this.log = log;
        pulse = health.begin(name, periodMillis);
        thread = Thread.ofPlatform().name(name).daemon().start(this::run);
    }

    private void run() {
        long pauseMillis = 0;
        try {
            while (stop.getCount() > 0) {
                pauseMillis = once() ? 0 : Math.clamp(2 * pauseMillis, FIRST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS);
                long restMillis = Math.min(LONGEST_REST_MILLIS, REST_TIMES * cost.leastNanos() / 1_000_000);
                long first = Math.max(Math.max(pauseMillis, restMillis), Math.min(periodMillis, APART_MILLIS));
                if (!stop.await(first, TimeUnit.MILLISECONDS)) {
                    wakes.tryAcquire(Math.max(0, periodMillis - first), TimeUnit.MILLISECONDS);
                    wakes.drainPermits();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// The JVM throws InternalError for a mapped page that is not there: a file was truncated while it was read. On an OutOfMemoryError the
    /// JVM exits by itself, because of an option of the launcher; here it is treated like any other error.
    private boolean once() {
        try {
            cost.begin();
            action.run();
            cost.end();
            pulse.finished();
            return true;
        } catch (Throwable e) {
            tell(e);
            return false;
        }
    }

    private void tell(Throwable thrown) {
        try {
            if (!thrown.toString().equals(told)) {
                told = thrown.toString();
                StackTraceElement[] trace = thrown.getStackTrace();
                log.println("sluice: the agent's " + name + " failed: " + thrown + (trace.length == 0 ? "" : " at " + trace[0]));
            }
        } catch (Throwable e) {
            // A failed report must not end the thread either.
        }
    }

    /// Runs the action before its time.
    public void soon() {
        wakes.release();
    }

    @Override
    public void close() {
        stop.countDown();
        wakes.release();
        pulse.close();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
