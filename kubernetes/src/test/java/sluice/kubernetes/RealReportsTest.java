package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.wire.Claim;

/// What the node program tells a real API server, which validates it, with the rights that the manifests give.
@Timeout(600)
class RealReportsTest {
    private static final String CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String SHARE = "5c3b9f1e-6a6e-4d5e-9d2f-1f2e3d4c5b6a";
    private static final String CONTAINER = "ab".repeat(32);

    @TempDir
    private static Path folder;

    private static RealServer server;
    private static URI account;

    @BeforeAll
    static void start() throws Exception {
        String missing = RealServer.missing("etcd", "kube-apiserver", "kubectl");
        assumeTrue(missing.isEmpty(), missing);
        server = new RealServer(folder, "server");
        server.cluster.create("/api/v1/nodes", Map.of("apiVersion", "v1", "kind", "Node", "metadata", Map.of("name", "node-1", "labels", Map.of("kubernetes.io/hostname", "node-1"))));
        server.cluster.create("/api/v1/namespaces/default/serviceaccounts", Map.of("apiVersion", "v1", "kind", "ServiceAccount", "metadata", Map.of("name", "default")));
        server.manifests();
        account = server.account();
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.stop();
        }
    }

    /// As the scheduler and kubelet leave claim and pod behind.
    private static Claim allocated(String node) {
        Map<String, Object> capacity = Map.of("memory", "1Gi", "compute", "25");
        Map<String, Object> spec = Map.of("devices", Map.of("requests", List.of(Map.of("name", "gpu", "exactly", Map.of("deviceClassName", "sluice-gpu", "capacity", Map.of("requests", capacity))))));
        JsonTree made = server.cluster.create(CLAIMS, Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaim", "metadata", Map.of("name", "gpu-" + node), "spec", spec));
        JsonTree pod = server.cluster.create(PODS, Map.of("apiVersion", "v1", "kind", "Pod", "metadata", Map.of("name", "train-" + node), "spec", Map.of("nodeName", node,
                "resourceClaims", List.of(Map.of("name", "gpu", "resourceClaimName", "gpu-" + node)),
                "containers", List.of(Map.of("name", "main", "image", "none", "resources", Map.of("claims", List.of(Map.of("name", "gpu"))))))));
        Map<String, Object> selector = Map.of("nodeSelectorTerms", List.of(Map.of("matchFields", List.of(Map.of("key", "metadata.name", "operator", "In", "values", List.of(node))))));
        server.cluster.replace(CLAIMS + "/gpu-" + node + "/status", Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaim",
                "metadata", Map.of("name", "gpu-" + node, "namespace", "default", "resourceVersion", made.at("metadata").at("resourceVersion").text()), "spec", spec, "status", Map.of(
                        "reservedFor", List.of(Map.of("resource", "pods", "name", "train-" + node, "uid", pod.at("metadata").at("uid").text())),
                        "allocation", Map.of("nodeSelector", selector, "devices", Map.of("results", List.of(Map.of("request", "gpu", "driver", "gpu.sluice.dev", "pool", node, "device", "gpu-0000",
                                "shareID", SHARE, "consumedCapacity", capacity)))))));
        server.cluster.replace(PODS + "/train-" + node + "/status", Map.of("apiVersion", "v1", "kind", "Pod", "metadata", Map.of("name", "train-" + node, "namespace", "default"), "spec",
                pod.at("spec").value(), "status", Map.of("phase", "Running", "containerStatuses", List.of(Map.of("name", "main", "image", "none", "imageID", "", "ready", true, "restartCount", 0,
                        "containerID", "containerd://" + CONTAINER)))));
        return FakeKubelet.claim("default", "gpu-" + node, made.at("metadata").at("uid").text());
    }

    @Test
    void shouldTellOfClaimsAndPods() throws Exception {
        Claim claim = allocated("node-1");
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        NodeSettings settings = NodeSettings.parse(List.of("--node", "node-1", "--agent", folder.resolve("agent/agent.sock").toString(), "--kubelet", folder.resolve("kubelet").toString(),
                "--state", folder.resolve("state").toString(), "--cdi", folder.resolve("cdi").toString()), Map.of());
        try (FakeAgent agent = new FakeAgent(folder.resolve("agent/agent.sock"))) {
            agent.findings = "{\"kind\":\"unknown\",\"pid\":4711,\"uid\":0,\"uuid\":\"GPU-0000\",\"command\":\"static\",\"tenant\":\"\",\"container\":\"" + CONTAINER
                    + "\",\"usedBytes\":1,\"ledgerBytes\":0,\"sinceNanos\":1,\"action\":\"reported\"}";
            try (NodeDriver driver = new NodeDriver(settings, new ClusterClient(account, Optional.empty(), Optional.empty()), new PrintStream(log, true, StandardCharsets.UTF_8));
                    FakeKubelet kubelet = new FakeKubelet(folder.resolve("kubelet"), "")) {
                assertThat(kubelet.prepare(claim).getError()).isEmpty();
                assertThat(agent.claims.get(claim.getUid())).contains("\"container\":\"main\"");
                driver.wake();

                for (int attempt = 0; attempt < 600 && (!server.cluster.get(CLAIMS + "/gpu-node-1").at("status").has("devices") || events().isEmpty()); attempt++) {
                    Thread.sleep(50);
                }
                assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
            }
        }

        JsonTree device = server.cluster.get(CLAIMS + "/gpu-node-1").at("status").at("devices").elements().getFirst();
        assertThat(device.at("shareID").text()).isEqualTo(SHARE);
        assertThat(device.at("conditions").elements().getFirst().at("status").text()).isEqualTo("True");
        assertThat(device.at("data").at("limits").at("compute").text()).isEqualTo("25%");
        assertThat(events().getFirst().at("note").text()).contains("pid 4711 (static) in container main");
        assertThat(server.kubectl("describe", "pod", "train-node-1")).contains("GpuLimitsNotEnforced");
        assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private static List<JsonTree> events() {
        return server.cluster.get("/apis/events.k8s.io/v1/namespaces/default/events").at("items").elements();
    }

    @Test
    void shouldNotTellOfClaimsOfOtherNodes() {
        Claim claim = allocated("node-2");
        ClusterClient own = new ClusterClient(account, Optional.empty(), Optional.empty());
        Map<String, Object> status = Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaim", "metadata", Map.of("name", claim.getName(), "namespace", "default"), "status",
                Map.of("devices", List.of(Map.of("driver", "gpu.sluice.dev", "pool", "node-2", "device", "gpu-0000", "shareID", SHARE, "conditions", List.of()))));

        assertThatThrownBy(() -> own.apply(CLAIMS + "/" + claim.getName() + "/status", status)).isInstanceOf(ClusterException.class).hasMessageContaining("arbitrary-node:patch");
        assertThatThrownBy(() -> own.create(PODS, Map.of())).isInstanceOf(ClusterException.class).hasMessageContaining("403");
    }
}
