package sluice.api.client;

import sluice.api.json.OperationJson;
import sluice.api.model.Operation;
import sluice.api.pause.FollowedOperation;

/// A pause or a resume that an agent carries out.
final class AgentOperation implements FollowedOperation {
    private final AgentClient client;
    private final String path;
    private Operation last;

    AgentOperation(AgentClient client, Operation begun) {
        this.client = client;
        path = "/v1/operations/" + AgentTenants.encoded(begun.id());
        last = begun;
    }

    @Override
    public Operation look() {
        if (last.runs()) {
            last = OperationJson.read(AgentTenants.answer(client.get(path)));
        }
        return last;
    }

    @Override
    public Operation withdraw() {
        last = OperationJson.read(AgentTenants.answer(client.ask("DELETE", path, new byte[0])));
        return last;
    }
}
