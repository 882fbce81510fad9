package sluice.agent.http;

/// The process that asks. On the Unix socket the kernel identifies it. On the port it is unknown, so a client needs the token to change things.
///
/// @param uid user of the process at the other end; [#UNKNOWN] on the port
/// @param pid of that process when it connected; 0 on the port
public record Caller(long uid, long pid, Rights rights) {
    /// No user has this number: the kernel uses it for "none".
    public static final long UNKNOWN = 0xffff_ffffL;

    /// The rights of a caller.
    public enum Rights {
        /// Sees only whether the agent is healthy.
        NONE,
        /// Sees everything, changes nothing.
        READ,
        /// Sees and changes the tenants of the same user.
        OWN,
        /// Sees and changes everything.
        ALL
    }

    public boolean mayRead() {
        return rights != Rights.NONE;
    }

    public boolean mayWrite() {
        return rights == Rights.OWN || rights == Rights.ALL;
    }

    /// Whether the caller may see objects of a user.
    public boolean sees(long owner) {
        return rights == Rights.READ || owns(owner);
    }

    /// Whether the caller may change objects of a user.
    public boolean owns(long owner) {
        return rights == Rights.ALL || rights == Rights.OWN && owner == uid;
    }
}
