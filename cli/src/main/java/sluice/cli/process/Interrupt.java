package sluice.cli.process;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// While it is open, Ctrl-C asks the command to finish, and waits until it has.
public final class Interrupt implements AutoCloseable {
    private static final long PATIENCE_MINUTES = 10;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::await);
    private volatile boolean requested;

    public Interrupt() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void await() {
        requested = true;
        try {
            closed.await(PATIENCE_MINUTES, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public boolean requested() {
        return requested;
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // It runs.
        }
    }
}
