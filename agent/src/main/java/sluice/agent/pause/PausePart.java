package sluice.agent.pause;

import java.util.List;
import java.util.OptionalLong;
import sluice.agent.http.Route;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.place.SluiceException;
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
        RestoreRoom room = new RestoreRoom(() -> machine.fresh().tenants().stream().map(TenantLook::tenant).toList(), gpu -> freeBytes(machine.last(), gpu));
        Operations operations = new Operations(room);
        routes = new PauseRoutes(machine, operations, room);
        clock = context.clock("pause", LOOK_MILLIS, operations::look);
        listening = machine.listen(look -> look.tenants().stream().map(TenantLook::tenant).filter(PausePart::isWaiting).forEach(tenant -> look(room, tenant)));
    }

    private static boolean isWaiting(Tenant tenant) {
        return tenant.asked().depth() != Depth.VACATE && tenant.pause().moving().step() == PauseStep.ROOM;
    }

    private static void look(RestoreRoom room, Tenant tenant) {
        try {
            room.look(tenant);
        } catch (SluiceException e) {
            // Not this agent's to write; its own tool looks.
        }
    }

    private static OptionalLong freeBytes(MachineLook look, TenantGpu wanted) {
        return look.gpus().stream().filter(gpu -> gpu.uuid().equals(wanted.uuid()) && gpu.totalBytes() > 0)
                .mapToLong(gpu -> gpu.totalBytes() - gpu.usedBytes()).findFirst();
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
