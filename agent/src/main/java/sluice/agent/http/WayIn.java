package sluice.agent.http;

/// A way in to the agent. Each has its own share of connections, pending answers and unread bytes, so that callers of one way never take the
/// share of another. Above all, clients without the token take nothing from those with it, or from the socket.
///
/// @see Peers
enum WayIn {
    /// Root, the agent's user and administrators, on the socket.
    OWNER(4, 4, 4),
    /// Other users, on the socket.
    USERS(2, 1, 4),
    /// With the token, at the port.
    TOKEN(8, 2, 2),
    /// Without the token, at the port.
    PORT(8, 2, 2);

    private final int connectionsPart;
    private final int workingPerPeer;
    private final int working;

    WayIn(int connectionsPart, int workingPerPeer, int working) {
        this.connectionsPart = connectionsPart;
        this.workingPerPeer = workingPerPeer;
        this.working = working;
    }

    static WayIn of(Caller caller) {
        boolean all = caller.rights() == Caller.Rights.ALL;
        return caller.uid() == Caller.UNKNOWN ? all ? TOKEN : PORT : all ? OWNER : USERS;
    }

    /// How many connections all callers of this way may have.
    int connections(HttpLimits limits) {
        return Math.max(1, limits.connections() / connectionsPart);
    }

    /// How many requests of one caller are worked on at a time; the others wait.
    int workingPerPeer() {
        return workingPerPeer;
    }

    /// The same for all callers of this way together.
    int working() {
        return working;
    }
}
