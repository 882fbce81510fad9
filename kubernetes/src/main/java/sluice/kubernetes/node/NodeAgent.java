package sluice.kubernetes.node;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import sluice.api.client.AgentClient;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.api.json.NodeClaimJson;
import sluice.api.model.NodeClaim;
import sluice.region.place.SluiceException;

/// The agent of this machine, which gives tenants their limits.
public final class NodeAgent {
    private static final int FIRST_ERROR = 300;

    private final AgentClient client;
    private final KernelGpus kernel;
    private volatile Map<String, NodeGpu> seen = Map.of();

    public NodeAgent(Path socket) {
        this(socket, KernelGpus.OF_MACHINE);
    }

    NodeAgent(Path socket, KernelGpus kernel) {
        client = new AgentClient(socket);
        this.kernel = kernel;
    }

    /// In the order of their numbers.
    public List<NodeGpu> gpus() {
        Map<String, KernelGpus.Facts> facts = kernel.read();
        List<NodeGpu> gpus = JsonTree.parse(ask("GET", "/v1/machine", new byte[0])).at("gpus").elements().stream().map(gpu -> {
            String uuid = gpu.at("uuid").text();
            KernelGpus.Facts of = facts.getOrDefault(uuid, KernelGpus.Facts.NONE);
            return new NodeGpu(uuid, gpu.at("name").text(), gpu.at("totalBytes").number(), gpu.at("health").elements().stream().map(JsonTree::text).toList(), of.numa(),
                    of.minor());
        }).toList();
        seen = gpus.stream().collect(Collectors.toMap(NodeGpu::device, gpu -> gpu, (first, second) -> first));
        return gpus;
    }

    /// The GPU of a name in the cluster. The agent looks at the whole machine to say which GPUs there are, so it is asked only for one that was not there before;
    /// [#gpus] tells of those that are gone.
    public Optional<NodeGpu> gpu(String device) {
        if (!seen.containsKey(device)) {
            gpus();
        }
        return Optional.ofNullable(seen.get(device));
    }

    /// Again changes nothing.
    public void declare(String token, NodeClaim claim) {
        ask("PUT", "/v1/claims/" + claim.id(), JsonBytes.of(json -> {
            json.writeStartObject();
            json.writeStringProperty("token", token);
            NodeClaimJson.properties(json, claim);
            json.writeEndObject();
        }));
    }

    /// Again, or without a claim, changes nothing.
    public void withdraw(String id) {
        ask("DELETE", "/v1/claims/" + id, new byte[0]);
    }

    /// The ids of the claims that the agent knows.
    public List<String> declared() {
        return JsonTree.parse(ask("GET", "/v1/claims", new byte[0])).at("claims").elements().stream().map(claim -> claim.at("id").text()).toList();
    }

    private byte[] ask(String method, String path, byte[] body) {
        AgentClient.Response response = client.ask(method, path, body);
        if (response.status() >= FIRST_ERROR) {
            throw new SluiceException("the node's agent refuses " + method + " " + path + ": " + response.text());
        }
        return response.body();
    }
}
