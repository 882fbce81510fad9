package sluice.agent.pause;

import java.util.List;
import sluice.agent.http.Route;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;

/// Pauses and resumes tenants for clients of the agent.
public final class PausePart implements Part {
    private static final long LOOK_MILLIS = 50;

    private final Operations operations = new Operations();
    private PauseRoutes routes;
    private Clock clock;

    @Override
    public void start(AgentContext context) {
        routes = new PauseRoutes(context.machine(), operations);
        clock = context.clock("pause", LOOK_MILLIS, operations::look);
    }

    @Override
    public List<Route> routes() {
        return routes.routes();
    }

    @Override
    public void close() {
        if (clock != null) {
            clock.close();
        }
    }
}
