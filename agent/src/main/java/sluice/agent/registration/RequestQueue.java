package sluice.agent.registration;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// Requests that wait for their answer: one of each peer in turn, so that a peer with many does not delay the others. A peer that asks for
/// more than its part waits longer. If too many of its requests wait already, it is told to ask again later.
///
/// All of it happens in one thread, that of the executor.
final class RequestQueue {
    private static final long SECOND_NANOS = 1_000_000_000L;
    private static final int FIRST_AGAIN_MILLIS = 100;
    private static final int AGAIN_STEP_MILLIS = 25;
    private static final int AGAIN_STEPS = 16;

    private final Capacity limits;
    private final Map<Long, Peer> peers = new HashMap<>();
    private final Deque<Peer> turns = new ArrayDeque<>();
    private int connections;
    private int putOff;
    private boolean running;

    /// @param connections      all together; a peer with few is let in beyond them
    /// @param ofOne            connections of one peer
    /// @param few              how many connections a peer always may have
    /// @param answersPerSecond to one peer, after a burst
    record Capacity(int connections, int ofOne, int few, int answersPerSecond, int burst) {
        static final Capacity STANDARD = new Capacity(1024, 512, 4, 100, 500);
        private static final int WITH_FEW = 2;
    }

    private static final class Peer {
        private final Deque<Runnable> waiting = new ArrayDeque<>();
        private int connections;
        private double tokens;
        private long filledNanos;
    }

    RequestQueue(Capacity limits) {
        this.limits = limits;
    }

    /// Whether one more connection of a peer is accepted.
    boolean connect(long key, long nowNanos) {
        Peer peer = peers.computeIfAbsent(key, added -> full(nowNanos));
        boolean few = peer.connections < limits.few() && connections < Capacity.WITH_FEW * limits.connections();
        if (!few && (connections >= limits.connections() || peer.connections >= limits.ofOne())) {
            return false;
        }
        connections++;
        peer.connections++;
        return true;
    }

    /// A peer is forgotten when it may ask for its full part again at once.
    void disconnect(long key, long nowNanos) {
        connections--;
        peers.get(key).connections--;
        long recovered = (long) limits.burst() * SECOND_NANOS / limits.answersPerSecond();
        peers.values().removeIf(peer -> peer.connections == 0 && peer.waiting.isEmpty() && nowNanos - peer.filledNanos > recovered);
    }

    /// When a refused peer should ask again; random, so that peers do not return at the same time.
    int againMillis() {
        return FIRST_AGAIN_MILLIS + AGAIN_STEP_MILLIS * (putOff++ % AGAIN_STEPS);
    }

    /// Puts a request of a connected peer behind its others.
    void add(long key, Runnable request, ScheduledExecutorService executor) {
        Peer peer = peers.get(key);
        if (peer.waiting.isEmpty()) {
            turns.addLast(peer);
        }
        peer.waiting.addLast(request);
        if (!running) {
            running = true;
            executor.execute(() -> next(executor));
        }
    }

    /// Answers one request, and leaves the thread to others before the next.
    private void next(ScheduledExecutorService executor) {
        long now = System.nanoTime();
        Peer peer = takeTurn(now);
        if (peer != null) {
            Runnable request = peer.waiting.removeFirst();
            if (!peer.waiting.isEmpty()) {
                turns.addLast(peer);
            }
            request.run();
        }
        running = !turns.isEmpty();
        if (running && peer != null) {
            executor.execute(() -> next(executor));
        } else if (running) {
            executor.schedule(() -> next(executor), SECOND_NANOS / limits.answersPerSecond(), TimeUnit.NANOSECONDS);
        }
    }

    /// The next peer that may have an answer now, or null.
    private Peer takeTurn(long nowNanos) {
        for (Iterator<Peer> each = turns.iterator(); each.hasNext();) {
            Peer peer = each.next();
            peer.tokens = Math.min(limits.burst(), peer.tokens + (double) (nowNanos - peer.filledNanos) / SECOND_NANOS * limits.answersPerSecond());
            peer.filledNanos = nowNanos;
            if (peer.tokens >= 1) {
                peer.tokens--;
                each.remove();
                return peer;
            }
        }
        return null;
    }

    private Peer full(long nowNanos) {
        Peer peer = new Peer();
        peer.tokens = limits.burst();
        peer.filledNanos = nowNanos;
        return peer;
    }
}
