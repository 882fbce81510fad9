package sluice.agent.http;

import java.time.Duration;

/// How much of the agent its clients may take.
///
/// @param requestTime        from the first wait for a request to its last byte
/// @param writeTime          in which a client must take some of what it is sent
/// @param connections        all together
/// @param connectionsPerPeer of one user; all of the port together count as one user
/// @param requestsPerSecond  of one user, after a burst of twice as many
/// @param pendingBytes       of answers that clients have not read yet, all together
public record HttpLimits(Duration requestTime, Duration writeTime, int connections, int connectionsPerPeer, int requestsPerSecond,
        long pendingBytes) {
    static final int LINE_BYTES = 4096;
    static final int HEADER_BYTES = 8192;
    static final int BODY_BYTES = 64 * 1024;

    public static final HttpLimits DEFAULT =
            new HttpLimits(Duration.ofSeconds(10), Duration.ofSeconds(10), 256, 64, 100, 16L << 20);
}
