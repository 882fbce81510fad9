package sluice.agent.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import sluice.agent.claims.DeclaredClaims;
import sluice.agent.http.Answer;
import sluice.agent.http.ApiServer;
import sluice.agent.http.Route;
import sluice.agent.os.PublishedFile;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.agent.part.PartMetric;
import sluice.agent.reservoir.Reservoir;
import sluice.agent.settings.CoreSettings;
import sluice.agent.settings.Places;
import sluice.agent.settings.Setting;
import sluice.api.client.AgentSockets;
import sluice.api.client.RunRegistration;
import sluice.region.limits.OnError;
import sluice.region.limits.Size;
import tools.jackson.core.JsonGenerator;

/// The part of the agent that gives regions to processes that share no folder with it, above all in containers.
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

    private static final Setting<Optional<Long>> RESERVOIR = new Setting<>("reservoir", "",
            "host memory of the agent for released memory of registered jobs, all together, as in 64g; if empty each job uses its own",
            text -> text.isEmpty() ? Optional.empty() : Optional.of(Size.parse(text)));
    private static final long RESERVOIR_MILLIS = 1000;

    private Registrar registrar;
    private volatile Optional<Reservoir> reservoir = Optional.empty();
    private ApiServer server;
    private Clock clock;
    private Clock reservoirClock;
    private OnError onError;
    private Path onErrorFile;

    @Override
    public List<Setting<?>> settings() {
        return List.of(POLICY, SOCKET, ON_ERROR, RESERVOIR);
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
        reservoir = context.settings().get(RESERVOIR).map(Reservoir::of);
        reservoir.ifPresent(memory -> reservoirClock = context.clock("reservoir", RESERVOIR_MILLIS, memory::follow));
        server = new ApiServer("register", new RegistrationChannel(RegistrationHandler.LINE_BYTES, new RegistrationHandler(registrar, reservoir)));
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
        List<Route> routes = new ArrayList<>(new ClaimRoutes(() -> Optional.ofNullable(registrar)).routes());
        routes.add(Route.get("/v1/reservoir", "Host memory of the agent for released memory of jobs: budget, granted, in memory now, processes that have some.",
                request -> Answer.json(this::writeReservoir)));
        return routes;
    }

    private void writeReservoir(JsonGenerator json) {
        json.writeStartObject();
        json.writeNumberProperty("budgetBytes", of(Reservoir::budgetBytes));
        json.writeNumberProperty("grantedBytes", of(Reservoir::grantedBytes));
        json.writeNumberProperty("takenBytes", of(Reservoir::takenBytes));
        json.writeNumberProperty("processes", of(Reservoir::processes));
        json.writeEndObject();
    }

    private long of(ToLongFunction<Reservoir> value) {
        return reservoir.map(value::applyAsLong).orElse(0L);
    }

    @Override
    public List<PartMetric> metrics() {
        return List.of(
                metric("budget", "Host memory that the agent has for released memory of jobs.", Reservoir::budgetBytes),
                metric("granted", "How much of it jobs have been granted.", Reservoir::grantedBytes),
                metric("taken", "How much of it is in memory now.", Reservoir::takenBytes));
    }

    private PartMetric metric(String of, String help, ToLongFunction<Reservoir> value) {
        return new PartMetric("sluice_reservoir_" + of + "_bytes", help, () -> of(value));
    }

    @Override
    public void close() {
        if (registrar != null) {
            server.close();
            clock.close();
            if (reservoirClock != null) {
                reservoirClock.close();
            }
            reservoir.ifPresent(Reservoir::close);
            registrar.close();
            if (onError == OnError.RUN) {
                forgetWord();
            }
        }
    }

    /// If jobs may run without an agent, no job has to wait for a stopped one.
    private void forgetWord() {
        try {
            Files.deleteIfExists(onErrorFile);
        } catch (IOException e) {
            // The old word is the same; jobs only wait some seconds longer.
        }
    }
}
