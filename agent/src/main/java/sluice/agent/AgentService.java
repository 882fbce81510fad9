package sluice.agent;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import sluice.agent.http.Access;
import sluice.agent.http.AgentAccess;
import sluice.agent.http.Answer;
import sluice.agent.http.ApiServer;
import sluice.agent.http.OpenApi;
import sluice.agent.http.Route;
import sluice.agent.http.Routes;
import sluice.agent.http.Token;
import sluice.agent.machine.EventLog;
import sluice.agent.machine.Gpus;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineRoutes;
import sluice.agent.os.WatchedProcesses;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Health;
import sluice.agent.part.Part;
import sluice.agent.settings.CoreSettings;
import sluice.agent.settings.Places;
import sluice.agent.settings.Setting;
import sluice.agent.settings.Settings;
import sluice.api.model.PlannedBoard;
import sluice.api.program.AgentProgram;
import sluice.cuda.Nvml;
import sluice.region.Tenants;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// The agent as a whole: it plans, looks, remembers and answers, until it is closed.
public final class AgentService implements AgentProgram.Running {
    private static final long SWEEP_MILLIS = 60_000;
    private static final long HEAP_MILLIS = 30_000;
    private static final long USUAL_HEAP_BYTES = 20 << 20;

    private final List<Part> parts;
    private final AgentContext context;
    private final Routes routes;
    private final ApiServer server;
    private final Path socket;
    private final Optional<Token> token;
    private final int port;
    private final WatchedProcesses processes = new WatchedProcesses();
    private final List<Clock> clocks = new ArrayList<>();
    private final Map<String, String> environment;
    private Optional<Watchdog> watchdog = Optional.empty();

    /// Listens. It makes no plan before it is started.
    ///
    /// @param directory whose lock the caller has
    /// @param plans     gets every plan that differs from the one before
    public AgentService(Settings settings, RuntimeDirectory directory, Map<String, String> environment, List<Part> parts,
            Consumer<PlannedBoard> plans, PrintStream log) {
        this.parts = List.copyOf(parts);
        this.environment = Map.copyOf(environment);
        // With Unsafe, the JVM prints a warning at every start. Netty gains too little by it for that.
        System.setProperty("io.netty.noUnsafe", "true");
        boolean allUsers = settings.get(CoreSettings.ALL_USERS);
        int uid = ThisProcess.current().uid();
        if (allUsers && uid != 0) {
            throw new SluiceException("all-users = yes needs root; take the line out of the config file, or start the agent as root");
        }
        Path state = Places.state(settings, environment);
        Supplier<List<RuntimeDirectory>> directories = allUsers ? () -> all(directory, settings.get(CoreSettings.LOOK_IN)) : () -> List.of(directory);
        Gpus gpus = new Gpus(Nvml.open());
        Machine machine = new Machine(directories, gpus, processes, new EventLog());
        Health health = new Health(settings.get(CoreSettings.LATE_AFTER));
        context = new AgentContext(settings, machine, processes, directory, state, health,
                parts.stream().flatMap(part -> part.metrics().stream()).toList(), plans, log);
        parts.forEach(part -> part.start(context));
        routes = new Routes(routes(machine, gpus), log);
        token = settings.get(CoreSettings.PORT) == 0 ? Optional.empty() : Optional.of(Token.in(state));
        server = new ApiServer(routes, access(settings, uid), CoreSettings.limits(settings));
        socket = Places.socket(settings, directory);
        port = settings.get(CoreSettings.PORT);
        server.pulses(health::everySecond);
        clock("heap", HEAP_MILLIS, AgentService::giveHeapBack);
        listen(allUsers);
    }

    /// The serial collector lets the old generation grow to its maximum before it collects it. Only then does unused memory go back to the
    /// system (`MaxHeapFreeRatio` in the launcher). Seen: 60 MiB after some hundred scrapes, 6 of them live.
    private static void giveHeapBack() {
        if (Runtime.getRuntime().totalMemory() > USUAL_HEAP_BYTES) {
            System.gc();
        }
    }

    @Override
    public void start() {
        Clock looks = clock("look", context.settings().get(CoreSettings.LOOK_EVERY).toMillis(), context.machine()::tick);
        context.machine().clock(looks::soon);
        parts.forEach(Part::begin);
        clock("sweep", SWEEP_MILLIS, () -> new Tenants(List.of(context.directory())).sweep(Instant.now()));
        watchdog = Watchdog.start(environment, context);
    }

    private Clock clock(String name, long periodMillis, Runnable action) {
        Clock clock = context.clock(name, periodMillis, action);
        clocks.add(clock);
        return clock;
    }

    private void listen(boolean allUsers) {
        if (allUsers) {
            Places.folder(socket.getParent(), "rwxr-xr-x");
        }
        server.listen(socket, allUsers ? "rw-rw-rw-" : "rw-------");
        if (port != 0) {
            server.listen(port);
        }
    }

    private static List<RuntimeDirectory> all(RuntimeDirectory own, List<Path> places) {
        Set<RuntimeDirectory> all = new HashSet<>(RuntimeDirectory.ofAllUsers(places));
        all.add(own);
        return List.copyOf(all);
    }

    private Access access(Settings settings, int uid) {
        int number = settings.get(CoreSettings.PORT);
        Set<String> hosts = new HashSet<>(settings.get(CoreSettings.PORT_HOSTS));
        hosts.addAll(List.of("127.0.0.1:" + number, "localhost:" + number, "[::1]:" + number));
        return new AgentAccess(Integer.toUnsignedLong(uid), settings.get(CoreSettings.ALL_USERS),
                Set.copyOf(settings.get(CoreSettings.ADMINISTRATORS)), token.map(Token::secret).orElse(""),
                settings.get(CoreSettings.PORT_READS).equals("open"), hosts);
    }

    private List<Route> routes(Machine machine, Gpus gpus) {
        List<Route> all = new ArrayList<>(new MachineRoutes(machine, gpus).routes());
        all.addFirst(Route.get("/healthz", "Whether every part of the agent has worked lately; if not, 503 and which did not.",
                request -> context.health().answer(machine.last().number() > 0)).forAll());
        parts.forEach(part -> all.addAll(part.routes()));
        all.add(Route.get("/v1/openapi.json", "This document.", request -> Answer.json(json -> OpenApi.write(json, all))));
        return all;
    }

    /// The parts that the modules of this program provide, each made anew.
    public static List<Part> parts() {
        return ServiceLoader.load(Part.class).stream().map(ServiceLoader.Provider::get).toList();
    }

    /// All settings of a config file.
    public static List<Setting<?>> settings(List<Part> parts) {
        List<Setting<?>> all = new ArrayList<>(CoreSettings.ALL);
        parts.forEach(part -> all.addAll(part.settings()));
        return all;
    }

    @Override
    public String places() {
        return socket + token.map(secret -> " and http://127.0.0.1:" + port + " (token in " + secret.file() + ")").orElse("");
    }

    public List<Route> routes() {
        return routes.all();
    }

    @Override
    public void close() {
        watchdog.ifPresent(Watchdog::close);
        clocks.forEach(Clock::close);
        server.close();
        parts.forEach(Part::close);
        processes.close();
    }
}
