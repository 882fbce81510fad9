package sluice.agent.pause;

import java.util.List;
import sluice.agent.http.Route;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.region.Tenant;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.restore.RestoreRoom;

/// Pauses and resumes tenants for clients of the agent. It also looks for room for vacated tenants that somebody else has asked to resume: a tool that
/// has ended, or one that does not know that look.
public final class PausePart implements Part {
    private static final long LOOK_MILLIS = 50;

    private PauseRoutes routes;
    private Clock clock;
    private Runnable listening = () -> { };

    @Override
    public void start(AgentContext context) {
        Machine machine = context.machine();
        // The list says only which files to read, so one of the last second will do.
        RestoreRoom room = RestoreRoom.ofAllUsers(() -> tenants(machine.last()), gpu -> machine.freeBytes(gpu.uuid()));
        Operations operations = new Operations(room);
        routes = new PauseRoutes(machine, operations, room);
        clock = context.clock("pause", LOOK_MILLIS, operations::look);
        listening = machine.listen(look -> room.lookForAll(tenants(look).stream().filter(PausePart::isWaiting).toList(), tenants(look)));
    }

    private static List<Tenant> tenants(MachineLook look) {
        return look.tenants().stream().map(TenantLook::tenant).toList();
    }

    private static boolean isWaiting(Tenant tenant) {
        return tenant.asked().depth() != Depth.VACATE && tenant.pause().moving().step() == PauseStep.ROOM;
    }

    @Override
    public List<Route> routes() {
        return routes.routes();
    }

    @Override
    public void close() {
        listening.run();
        if (clock != null) {
            clock.close();
        }
    }
}
