package sluice.agent.reservoir;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;

/// Threads that make pages: on a virtual machine with an H200 one thread makes 2 GB/s, sixteen make 8.
final class Filler implements AutoCloseable {
    static final long PIECE_BYTES = 64L << 20;
    private static final int MOST_THREADS = 8;

    private final ExecutorService threads;

    Filler() {
        ThreadFactory daemons = Thread.ofPlatform().name("reservoir-", 0).daemon().factory();
        threads = Executors.newFixedThreadPool(Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, MOST_THREADS), daemons);
    }

    /// False: the agent ends.
    boolean add(Runnable piece) {
        try {
            threads.execute(piece);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
