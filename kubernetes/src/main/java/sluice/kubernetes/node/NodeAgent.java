package sluice.kubernetes.node;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import sluice.api.client.AgentClient;
import sluice.api.json.AuditJson;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.api.json.NodeClaimJson;
import sluice.api.model.AuditFinding;
import sluice.api.model.GpuHealth;
import sluice.api.model.NodeClaim;
import sluice.region.place.SluiceException;

/// The agent of this machine, which gives tenants their limits.
public final class NodeAgent {
    private static final int FIRST_ERROR = 300;
    private static final int TOO_MANY = 429;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(100);

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
        List<NodeGpu> gpus = JsonTree.parse(ask("GET", "/v1/gpus", new byte[0])).at("gpus").elements().stream().filter(NodeAgent::isKnownToDriver).map(gpu -> {
            String uuid = gpu.at("uuid").text();
            List<String> unfit = GpuHealth.unfit(gpu.at("health").elements().stream().map(JsonTree::text).toList());
            NodeGpu.Kind kind = new NodeGpu.Kind(word(gpu, "architecture"), word(gpu, "capability"), word(gpu, "driver"));
            return new NodeGpu(uuid, gpu.at("name").text(), gpu.at("totalBytes").number(), unfit, kind, facts.getOrDefault(uuid, KernelGpus.Facts.NONE));
        }).toList();
        seen = gpus.stream().collect(Collectors.toMap(NodeGpu::device, gpu -> gpu, (first, second) -> first));
        return gpus;
    }

    /// The GPU of a name in the cluster. Fifty claims at once need not all ask the agent: only one for a GPU that was not there before does;
    /// [#gpus] tells of those that are gone.
    public Optional<NodeGpu> gpu(String device) {
        if (!seen.containsKey(device)) {
            gpus();
        }
        return Optional.ofNullable(seen.get(device));
    }

    /// Others are from the ledgers of tenants, who may write anything.
    private static boolean isKnownToDriver(JsonTree gpu) {
        return !word(gpu, "driver").isEmpty();
    }

    private static String word(JsonTree gpu, String name) {
        return gpu.has(name) ? gpu.at(name).text() : "";
    }

    /// The processes that use a GPU in a way that no ledger knows.
    public List<AuditFinding> findings() {
        return AuditJson.read(JsonTree.parse(ask("GET", "/v1/audit", new byte[0]))).findings();
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

    /// As [#declare], and waits a while for an agent that is being started anew: after a refusal kubelet waits up to a minute and a half.
    public void declarePatiently(String token, NodeClaim claim) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                declare(token, claim);
                return;
            } catch (SluiceException e) {
                if (!isAway(e) || System.nanoTime() >= until) {
                    throw e;
                }
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SluiceException("interrupted while the agent was waited for", e);
        }
    }

    /// Whether a request failed because the agent did not answer. Else it refused the request.
    public static boolean isAway(SluiceException failure) {
        return failure.getCause() instanceof IOException;
    }

    /// Again, or without a claim, changes nothing.
    public void withdraw(String id) {
        ask("DELETE", "/v1/claims/" + id, new byte[0]);
    }

    /// The ids of the claims that the agent knows.
    public List<String> declared() {
        return JsonTree.parse(ask("GET", "/v1/claims", new byte[0])).at("claims").elements().stream().map(claim -> claim.at("id").text()).toList();
    }

    /// The page for Prometheus.
    ///
    /// @param names of another exporter; empty: Sluice's
    public byte[] metrics(String names) {
        return ask("GET", "/metrics" + (names.isEmpty() ? "" : "?names=" + names), new byte[0]);
    }

    /// The agent answers a user 100 requests a second, after a burst of 200. With more claims than that on the node, their turn comes later.
    private byte[] ask(String method, String path, byte[] body) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        AgentClient.Response response = client.ask(method, path, body);
        while (response.status() == TOO_MANY && System.nanoTime() < until) {
            pause();
            response = client.ask(method, path, body);
        }
        if (response.status() >= FIRST_ERROR) {
            throw new SluiceException("the node's agent refuses " + method + " " + path + ": " + response.text());
        }
        return response.body();
    }
}
