package sluice.agent.http;

import java.time.Duration;

/// How much of the agent its clients may take.
///
/// @param requestTime        from the first wait for a request to its last byte, and as long for the agent to have an answer
/// @param writeTime          in which a client must take some of what it is sent
/// @param connections        all together; each way in has its part of them
/// @param connectionsPerPeer of one user; at the port all with the token count as one user, and all without it as another
/// @param requestsPerSecond  of one user, after a burst of twice as many
/// @param pendingBytes       of answers that clients have not read yet, all together that came the same way
public record HttpLimits(Duration requestTime, Duration writeTime, int connections, int connectionsPerPeer, int requestsPerSecond,
        long pendingBytes) {
    static final int LINE_BYTES = 4096;
    static final int HEADER_BYTES = 8192;
    static final int BODY_BYTES = 64 * 1024;

    public static final HttpLimits DEFAULT =
            new HttpLimits(Duration.ofSeconds(10), Duration.ofSeconds(10), 256, 64, 100, 8L << 20);
}
