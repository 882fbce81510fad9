package sluice.agent;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The part of the agent that gives regions to processes which have no folder in common with it: containers above all.
final class RegistrationPart implements Part {
    private static final String SOCKET_FILE = "register/agent-register.sock";
    private static final Path OF_ALL = Path.of("/run/sluice").resolve(SOCKET_FILE);
    private static final long FOLLOW_MILLIS = 100;

    private static final Setting<Optional<PolicyFile>> POLICY = new Setting<>("policy", "",
            "file that says who gets which limits; if empty nobody is registered (docs/agent.md)",
            text -> text.isEmpty() ? Optional.empty() : Optional.of(new PolicyFile(Path.of(text))));
    private static final Setting<Path> SOCKET = Setting.path("register-socket", "",
            "where jobs register; if empty register/agent-register.sock in the runtime directory, for all-users in /run/sluice");

    private static final Setting<String> ON_ERROR = Setting.word("on-error", "fail", List.of("run", "fail"),
            "what a job does that gets no answer: run without limits, or fail its CUDA calls; beside the socket for all to read");
    private static final String ON_ERROR_FILE = "on-error";

    private Registrar registrar;
    private ApiServer server;
    private Clock clock;

    @Override
    public List<Setting<?>> settings() {
        return List.of(POLICY, SOCKET, ON_ERROR);
    }

    @Override
    public void start(AgentContext context) {
        Optional<PolicyFile> policy = context.settings().get(POLICY);
        if (policy.isEmpty()) {
            return;
        }
        registrar = new Registrar(context.directory(), policy.get(), context.machine().events(),
                context.settings().get(CoreSettings.ALL_USERS));
        server = new ApiServer("register", new RegistrationChannel(RegistrationHandler.LINE_BYTES, new RegistrationHandler(registrar)));
        clock = new Clock("registration", FOLLOW_MILLIS, registrar::follow, context.log());
        Path chosen = context.settings().get(SOCKET);
        Path socket = !chosen.toString().isEmpty() ? chosen
                : context.settings().get(CoreSettings.ALL_USERS) ? OF_ALL : context.directory().path().resolve(SOCKET_FILE);
        Places.folder(socket.getParent(), "rwxr-xr-x");
        PublishedFile.write(socket.getParent(), ON_ERROR_FILE, context.settings().get(ON_ERROR) + "\n");
        server.listen(socket, "rw-rw-rw-");
        registrar.recall();
    }

    @Override
    public void close() {
        if (registrar != null) {
            server.close();
            clock.close();
            registrar.close();
        }
    }
}
