package sluice.agent.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sluice.agent.claims.DeclaredClaims;
import sluice.agent.http.ApiServer;
import sluice.agent.http.Route;
import sluice.agent.os.PublishedFile;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.agent.settings.CoreSettings;
import sluice.agent.settings.Places;
import sluice.agent.settings.Setting;
import sluice.api.client.AgentSockets;
import sluice.api.client.RunRegistration;
import sluice.region.limits.OnError;

/// The part of the agent that gives regions to processes which have no folder in common with it: containers above all.
public final class RegistrationPart implements Part {
    private static final long FOLLOW_MILLIS = 100;
    private static final String CLAIMS = "claims";

    private static final Setting<Optional<PolicyFile>> POLICY = new Setting<>("policy", "",
            "file that says who gets which limits; if empty all-users gives jobs of 'sluice run' what they ask for (docs/agent.md)",
            text -> text.isEmpty() ? Optional.empty() : Optional.of(new PolicyFile(Path.of(text))));
    private static final Setting<Path> SOCKET = Setting.path("register-socket", "",
            "where jobs register; if empty register/agent-register.sock in the runtime directory, for all-users in /run/sluice");

    private static final Setting<Optional<OnError>> ON_ERROR = new Setting<>("on-error", "",
            "what a job does that gets no answer: run without limits, or fail its CUDA calls; if empty fail with a policy, run without",
            text -> text.isEmpty() ? Optional.empty() : Optional.of(OnError.parse(text)));

    private Registrar registrar;
    private ApiServer server;
    private Clock clock;
    private OnError onError;
    private Path onErrorFile;

    @Override
    public List<Setting<?>> settings() {
        return List.of(POLICY, SOCKET, ON_ERROR);
    }

    @Override
    public void start(AgentContext context) {
        Optional<PolicyFile> policy = context.settings().get(POLICY);
        boolean allUsers = context.settings().get(CoreSettings.ALL_USERS);
        if (policy.isEmpty() && !allUsers) {
            return;
        }
        registrar = new Registrar(context.directory(), policy.orElseGet(PolicyFile::asAsked), new DeclaredClaims(context.state().resolve(CLAIMS)),
                context.machine().events(), allUsers);
        context.machine().bounds(registrar::bounds);
        context.machine().claims(registrar::claim);
        server = new ApiServer("register", new RegistrationChannel(RegistrationHandler.LINE_BYTES, new RegistrationHandler(registrar)));
        server.pulses(context.health()::everySecond);
        clock = context.clock("registration", FOLLOW_MILLIS, registrar::follow);
        Path chosen = context.settings().get(SOCKET);
        Path socket = !chosen.toString().isEmpty() ? chosen
                : allUsers ? AgentSockets.REGISTER_OF_ALL : context.directory().path().resolve(AgentSockets.REGISTER);
        Places.folder(socket.getParent(), "rwxr-xr-x");
        onErrorFile = socket.resolveSibling(RunRegistration.ON_ERROR_FILE);
        onError = context.settings().get(ON_ERROR).orElse(policy.isPresent() ? OnError.FAIL : OnError.RUN);
        PublishedFile.write(socket.getParent(), RunRegistration.ON_ERROR_FILE, onError.word() + "\n");
        server.listen(socket, "rw-rw-rw-");
        registrar.recall();
    }

    @Override
    public List<Route> routes() {
        return new ClaimRoutes(() -> Optional.ofNullable(registrar)).routes();
    }

    @Override
    public void close() {
        if (registrar != null) {
            server.close();
            clock.close();
            registrar.close();
            if (onError == OnError.RUN) {
                forgetWord();
            }
        }
    }

    /// Nobody needs to wait for an agent that was stopped where jobs may run without one.
    private void forgetWord() {
        try {
            Files.deleteIfExists(onErrorFile);
        } catch (IOException e) {
            // It says what holds anyway; jobs wait some seconds longer.
        }
    }
}
