package sluice.agent;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import sluice.cuda.Nvml;
import sluice.region.RuntimeDirectory;
import sluice.region.ThisProcess;

/// The agent as a whole: it plans, looks, and answers, until it is closed.
public final class AgentService implements AutoCloseable {
    private static final String SOCKET = "agent.sock";
    private static final long PLAN_MILLIS = 100;
    private static final long LOOK_MILLIS = 1000;

    private final RuntimeDirectory directory;
    private final Agent planner;
    private final List<Part> parts;
    private final List<Clock> clocks = new ArrayList<>();
    private final ApiServer server;

    public AgentService(RuntimeDirectory directory, List<Part> parts, Consumer<PlannedBoard> plans, PrintStream log) {
        this.directory = directory;
        this.parts = List.copyOf(parts);
        System.setProperty("io.netty.noUnsafe", "true");
        planner = new Agent(directory, plans);
        Machine machine = new Machine(() -> List.of(directory), new Gpus(Nvml.open()), new EventLog());
        List<Route> routes = new ArrayList<>(new MachineRoutes(machine).routes());
        parts.forEach(part -> routes.addAll(part.routes()));
        AgentContext context = new AgentContext(machine, directory, directory.path(), log);
        parts.forEach(part -> part.start(context));
        Access access = new AgentAccess(Integer.toUnsignedLong(ThisProcess.current().uid()), false, Set.of(), "", true, Set.of());
        server = new ApiServer(new Routes(routes, log), access, HttpLimits.DEFAULT);
        clocks.add(new Clock("plan", PLAN_MILLIS, planner::look, log));
        clocks.add(new Clock("look", LOOK_MILLIS, machine::tick, log));
        server.listen(socket(), "rw-------");
    }

    public Path socket() {
        return directory.path().resolve(SOCKET);
    }

    /// The parts that every agent has. Those who build one add it here.
    public static List<Part> standardParts() {
        return List.of();
    }

    @Override
    public void close() {
        clocks.forEach(Clock::close);
        server.close();
        parts.forEach(AgentService::close);
        planner.close();
    }

    private static void close(Part part) {
        try {
            part.close();
        } catch (Exception e) {
            // It ends with the process at the latest.
        }
    }
}
