package sluice.api.client;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sluice.api.json.AuditJson;
import sluice.api.json.JsonTree;
import sluice.api.model.AuditReport;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Asks the agent for the report of its audit.
public final class AgentAudit {
    private AgentAudit() {}

    /// The report of the agent that serves this user, if an agent answers.
    public static Optional<AuditReport> find(List<RuntimeDirectory> directories) {
        for (Path socket : AgentSockets.of(directories)) {
            if (Files.exists(socket)) {
                try {
                    AgentClient.Response response = new AgentClient(socket).get("/v1/audit");
                    return response.status() == 200 ? Optional.of(AuditJson.read(JsonTree.parse(response.body()))) : Optional.empty();
                } catch (SluiceException e) {
                    // The socket of an agent that was killed, or an agent of another version.
                }
            }
        }
        return Optional.empty();
    }
}
