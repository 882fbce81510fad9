package sluice.agent.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// On the Unix socket, the agent's own user and root may do everything. Only an agent that serves all users admits other users, and only
/// to their own tenants. On the port, every user of the machine may read, and a client with the token may do everything.
///
/// A page of another site can make a browser send requests to the loopback, and can give its own name our address. So on the
/// port the Host must be one of ours, and so must the Origin if there is one.
///
/// @param uid            the agent's user
/// @param allUsers       whether the agent serves all users
/// @param administrators users who may do everything
/// @param token          for the port
/// @param openPort       whether a client without the token may look
/// @param hosts          by which the port may be called, with its number
public record AgentAccess(long uid, boolean allUsers, Set<Long> administrators, String token, boolean openPort, Set<String> hosts)
        implements Access {
    private static final String BEARER = "Bearer ";

    @Override
    public Caller caller(Optional<Peer> peer, Map<String, String> headers) {
        return peer.map(this::local).orElseGet(() -> port(headers));
    }

    private Caller local(Peer peer) {
        if (peer.uid() == 0 || peer.uid() == uid || administrators.contains(peer.uid())) {
            return new Caller(peer.uid(), peer.pid(), Caller.Rights.ALL);
        }
        if (!allUsers) {
            throw new Refusal(403, "this agent serves user " + uid + " only; start your own, or ask for one that serves all users");
        }
        return new Caller(peer.uid(), peer.pid(), Caller.Rights.OWN);
    }

    private Caller port(Map<String, String> headers) {
        String host = headers.getOrDefault("host", "");
        if (!hosts.contains(host)) {
            throw new Refusal(403, "the agent is not called by this name; use http://127.0.0.1 and its port");
        }
        String origin = headers.get("origin");
        String site = headers.getOrDefault("sec-fetch-site", "none");
        boolean otherSite = site.equals("cross-site") || site.equals("same-site");
        if (otherSite || origin != null && !origin.equals("http://" + host)) {
            throw new Refusal(403, "pages of other sites may not ask the agent");
        }
        String given = headers.getOrDefault("authorization", "");
        if (given.isEmpty()) {
            return new Caller(Caller.UNKNOWN, 0, openPort ? Caller.Rights.READ : Caller.Rights.NONE);
        }
        if (!given.startsWith(BEARER) || !isToken(given.substring(BEARER.length()))) {
            throw new Refusal(401, "the token is not the agent's; its token file has the right one");
        }
        return new Caller(Caller.UNKNOWN, 0, Caller.Rights.ALL);
    }

    /// In constant time, so that the duration does not show how many characters were right.
    private boolean isToken(String given) {
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }
}
