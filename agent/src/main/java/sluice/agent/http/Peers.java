package sluice.agent.http;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// The connections by way in, and the rate of requests of each caller. A caller that asks for too much takes nothing from others.
///
/// A connection at the port counts as without the token until a request shows the token. If there are too many of these, a new one replaces
/// the one that has been quiet for longest. So a client that keeps connections open keeps no other client out.
final class Peers {
    private static final int BURST_SECONDS = 2;

    private final HttpLimits limits;
    private final Map<WayIn, Shared> ways = new EnumMap<>(WayIn.class);
    private final Map<Key, Peer> peers = new HashMap<>();
    private final Deque<Connection> quiet = new ArrayDeque<>();

    Peers(HttpLimits limits) {
        this.limits = limits;
        for (WayIn way : WayIn.values()) {
            ways.put(way, new Shared(way));
        }
    }

    private record Key(WayIn way, long uid) {}

    /// Sums of all callers of one way in.
    private static final class Shared {
        private final Semaphore working;
        private int connections;
        private long pendingBytes;

        private Shared(WayIn way) {
            working = new Semaphore(way.working(), true);
        }
    }

    /// Sums of one caller.
    private static final class Peer {
        private final Semaphore working;
        private int connections;
        private long pendingBytes;
        private double tokens;
        private long filledNanos;

        private Peer(WayIn way, double tokens, long nowNanos) {
            working = new Semaphore(way.workingPerPeer(), true);
            this.tokens = tokens;
            filledNanos = nowNanos;
        }
    }

    /// One connection of a caller, if it is accepted.
    ///
    /// @param close cuts it off
    synchronized Optional<Connection> connect(WayIn way, long uid, Runnable close, long nowNanos) {
        Connection connection = new Connection(way, uid, close, nowNanos);
        if (way == WayIn.PORT && !connection.fits()) {
            quiet.pollFirst().cutOff(nowNanos);
        }
        if (!connection.fits()) {
            return Optional.empty();
        }
        connection.enter();
        return Optional.of(connection);
    }

    private Peer peer(Key key, long nowNanos) {
        return peers.computeIfAbsent(key, added -> new Peer(key.way(), (double) limits.requestsPerSecond() * BURST_SECONDS, nowNanos));
    }

    /// One connection, with the bounds of its caller.
    final class Connection {
        private final Runnable close;
        private Key key;
        private Peer peer;
        private boolean open = true;

        private Connection(WayIn way, long uid, Runnable close, long nowNanos) {
            this.close = close;
            key = new Key(way, uid);
            peer = peer(key, nowNanos);
        }

        private Shared shared() {
            return ways.get(key.way());
        }

        private boolean fits() {
            return shared().connections < key.way().connections(limits) && peer.connections < limits.connectionsPerPeer();
        }

        private void enter() {
            shared().connections++;
            peer.connections++;
            if (key.way() == WayIn.PORT) {
                quiet.addLast(this);
            }
        }

        private void leave(long nowNanos) {
            shared().connections--;
            peer.connections--;
            quiet.remove(this);
            // With its last connection a caller is forgotten only if it may ask again at once.
            peers.values().removeIf(each -> each.connections == 0 && each.pendingBytes == 0
                    && nowNanos - each.filledNanos > BURST_SECONDS * 1_000_000_000L);
        }

        private void cutOff(long nowNanos) {
            disconnect(nowNanos);
            close.run();
        }

        void disconnect(long nowNanos) {
            synchronized (Peers.this) {
                if (open) {
                    open = false;
                    leave(nowNanos);
                }
            }
        }

        /// Whether one more request is answered now.
        ///
        /// @param way by which the caller came, as the request has shown
        boolean ask(WayIn way, long nowNanos) {
            synchronized (Peers.this) {
                return open && move(way, nowNanos) && take(nowNanos);
            }
        }

        private boolean move(WayIn way, long nowNanos) {
            if (key.way() == way) {
                if (way == WayIn.PORT) {
                    quiet.remove(this);
                    quiet.addLast(this);
                }
                return true;
            }
            Connection moved = new Connection(way, key.uid(), close, nowNanos);
            if (!moved.fits()) {
                return false;
            }
            leave(nowNanos);
            key = moved.key;
            peer = moved.peer;
            enter();
            return true;
        }

        private boolean take(long nowNanos) {
            double most = (double) limits.requestsPerSecond() * BURST_SECONDS;
            peer.tokens = Math.min(most, peer.tokens + (nowNanos - peer.filledNanos) / 1e9 * limits.requestsPerSecond());
            peer.filledNanos = nowNanos;
            if (peer.tokens < 1) {
                return false;
            }
            peer.tokens--;
            return true;
        }

        /// Waits until a request may run. @return the action for its end; empty: the wait took too long
        Optional<Runnable> begin() throws InterruptedException {
            Semaphore own;
            Semaphore all;
            synchronized (Peers.this) {
                own = peer.working;
                all = shared().working;
            }
            long millis = limits.requestTime().toMillis();
            if (!own.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
                return Optional.empty();
            }
            if (!all.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
                own.release();
                return Optional.empty();
            }
            return Optional.of(() -> {
                all.release();
                own.release();
            });
        }

        /// Reserves room for bytes that the client has not read yet. One answer always fits. @return ends the reservation
        Optional<Runnable> reserve(long bytes) {
            synchronized (Peers.this) {
                Shared shared = shared();
                Peer owner = peer;
                boolean fits = shared.pendingBytes == 0 || shared.pendingBytes + bytes <= limits.pendingBytes()
                        && (key.way() != WayIn.USERS || owner.pendingBytes == 0 || owner.pendingBytes + bytes <= limits.pendingBytes() / 2);
                if (!fits) {
                    return Optional.empty();
                }
                shared.pendingBytes += bytes;
                owner.pendingBytes += bytes;
                return Optional.of(() -> {
                    synchronized (Peers.this) {
                        shared.pendingBytes -= bytes;
                        owner.pendingBytes -= bytes;
                    }
                });
            }
        }
    }
}
