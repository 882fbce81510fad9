package sluice.agent.http;

import java.util.HashMap;
import java.util.Map;

/// Who is connected, and how much each user asks for. A user that asks for too much takes nothing from others.
final class Peers {
    private static final int BURST_SECONDS = 2;

    private final HttpLimits limits;
    private final Map<Long, Peer> peers = new HashMap<>();
    private int connections;

    Peers(HttpLimits limits) {
        this.limits = limits;
    }

    private static final class Peer {
        private int connections;
        private double tokens;
        private long filledNanos;
    }

    /// Whether one more connection of a user is taken.
    synchronized boolean connect(long uid, long nowNanos) {
        Peer peer = peers.computeIfAbsent(uid, added -> full(nowNanos));
        if (connections >= limits.connections() || peer.connections >= limits.connectionsPerPeer()) {
            return false;
        }
        connections++;
        peer.connections++;
        return true;
    }

    /// What a user has asked for is forgotten with the last connection only when it may ask again at once.
    synchronized void disconnect(long uid, long nowNanos) {
        connections--;
        peers.get(uid).connections--;
        peers.values().removeIf(peer -> peer.connections == 0 && nowNanos - peer.filledNanos > BURST_SECONDS * 1_000_000_000L);
    }

    /// Whether one more request of a user is answered now.
    synchronized boolean ask(long uid, long nowNanos) {
        Peer peer = peers.computeIfAbsent(uid, added -> full(nowNanos));
        double most = (double) limits.requestsPerSecond() * BURST_SECONDS;
        peer.tokens = Math.min(most, peer.tokens + (nowNanos - peer.filledNanos) / 1e9 * limits.requestsPerSecond());
        peer.filledNanos = nowNanos;
        if (peer.tokens < 1) {
            return false;
        }
        peer.tokens--;
        return true;
    }

    private Peer full(long nowNanos) {
        Peer peer = new Peer();
        peer.tokens = (double) limits.requestsPerSecond() * BURST_SECONDS;
        peer.filledNanos = nowNanos;
        return peer;
    }
}
