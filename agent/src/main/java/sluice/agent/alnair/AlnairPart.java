package sluice.agent.alnair;

import java.nio.file.Path;
import java.util.List;
import sluice.agent.http.ApiServer;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;
import sluice.agent.registration.RegistrationChannel;
import sluice.agent.settings.Places;
import sluice.agent.settings.Setting;

/// The part of the agent that replaces Alnair's registration server for containers that were made for Alnair.
public final class AlnairPart implements Part {
    private static final Setting<Path> SOCKET = Setting.path("alnair-socket", "",
            "where clients of Alnair register, such as /run/alnair/alnair.sock; if empty, none can (docs/agent.md)");
    private static final Setting<Path> WORKSPACES = Setting.path("alnair-workspaces", "/var/lib/alnair/workspace",
            "folder with the workspace of each ALNAIR_ID");

    private ApiServer server;

    @Override
    public List<Setting<?>> settings() {
        return List.of(SOCKET, WORKSPACES);
    }

    @Override
    public void start(AgentContext context) {
        Path socket = context.settings().get(SOCKET);
        if (socket.toString().isEmpty()) {
            return;
        }
        AlnairWorkspaces workspaces = new AlnairWorkspaces(context.settings().get(WORKSPACES), AlnairOwners.in(context.state()),
                context.machine().events());
        server = new ApiServer("alnair", new RegistrationChannel(AlnairHandler.LINE_BYTES, new AlnairHandler(workspaces)));
        server.pulses(context.health()::everySecond);
        Places.folder(socket.getParent(), "rwxr-xr-x");
        server.listen(socket, "rw-rw-rw-");
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
