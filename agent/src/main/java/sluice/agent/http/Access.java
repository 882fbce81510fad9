package sluice.agent.http;

import java.util.Map;
import java.util.Optional;

/// Decides what a caller may do, before any route runs.
public interface Access {
    /// The process at the other end of a connection, as the kernel reports it.
    record Peer(long uid, long pid) {}

    /// The caller of a request. Throws a [Refusal] when the request must not be answered at all.
    ///
    /// @param peer    empty on the port
    /// @param headers first value of each, names in lower case
    Caller caller(Optional<Peer> peer, Map<String, String> headers);
}
