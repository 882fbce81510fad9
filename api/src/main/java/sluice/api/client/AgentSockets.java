package sluice.api.client;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import sluice.region.place.RuntimeDirectory;

/// The paths of an agent's sockets, by which its clients find it.
public final class AgentSockets {
    /// In the runtime directory of a user.
    public static final String NAME = "agent.sock";
    /// The socket of an agent that serves all users.
    public static final Path OF_ALL = Path.of("/run/sluice").resolve(NAME);

    /// Where jobs register, in the runtime directory.
    public static final String REGISTER = "register/agent-register.sock";
    public static final Path REGISTER_OF_ALL = OF_ALL.resolveSibling(REGISTER);

    private AgentSockets() {}

    /// Where an agent that serves this user may listen, the user's own first.
    public static List<Path> of(List<RuntimeDirectory> directories) {
        return Stream.concat(directories.stream().map(directory -> directory.path().resolve(NAME)), Stream.of(OF_ALL)).toList();
    }
}
