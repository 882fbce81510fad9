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

/// The manifests and the node program before a real API server, with the rights that the manifests give.
@Timeout(600)
class RealServerTest {
    @TempDir
    private static Path folder;

    private static RealServer server;
    private static URI account;

    @BeforeAll
    static void start() throws Exception {
        String missing = RealServer.missing("etcd", "kube-apiserver", "kubectl");
        assumeTrue(missing.isEmpty(), missing);
        server = new RealServer(folder, "server");
        server.cluster.create("/api/v1/nodes", Map.of("apiVersion", "v1", "kind", "Node", "metadata", Map.of("name", "node-1")));
        server.cluster.create("/api/v1/nodes", Map.of("apiVersion", "v1", "kind", "Node", "metadata", Map.of("name", "node-2")));
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

    @Test
    void shouldAcceptTheManifests() throws Exception {
        for (String manifest : List.of("", "overlays/simulated", "overlays/metrics", "overlays/older-tools", "overlays/device-plugin", "overlays/device-plugin-alnair")) {
            String said = server.kubectl("apply", "--dry-run=server", "-k", RealServer.MANIFESTS.resolve(manifest).toString());

            assertThat(said).as(manifest).contains("daemonset.apps/sluice-node created").doesNotContain("arning");
            assertThat(said.contains("deviceclass.resource.k8s.io/sluice-gpu unchanged")).as(manifest).isEqualTo(!manifest.contains("device-plugin"));
        }
        assertThat(server.kubectl("apply", "--dry-run=server", "-f", RealServer.MANIFESTS.resolve("examples").toString())).contains("pod/train-a created", "pod/simulated-a created").doesNotContain("arning");
    }

    @Test
    void shouldPublishASliceThatTheServerKeepsWhole() throws Exception {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        NodeSettings settings = NodeSettings.parse(List.of("--node", "node-1", "--agent", folder.resolve("agent/agent.sock").toString(), "--kubelet", folder.resolve("kubelet").toString(),
                "--state", folder.resolve("state").toString(), "--cdi", folder.resolve("cdi").toString()), Map.of());
        try (FakeAgent agent = new FakeAgent(folder.resolve("agent/agent.sock"))) {
            agent.health = "\"it is lost\"";
            NodeDriver driver = new NodeDriver(settings, new ClusterClient(account, Optional.empty(), Optional.empty()), new PrintStream(log, true, StandardCharsets.UTF_8));
            try {
                RealServer.await(() -> RealServer.answers(server.cluster, RealServer.SLICES + "/node-1-gpu.sluice.dev"));
            } finally {
                driver.close();
            }
        }

        JsonTree attributes = server.cluster.get(RealServer.SLICES + "/node-1-gpu.sluice.dev").at("spec").at("devices").elements().getFirst().at("attributes");
        assertThat(attributes.at("driverVersion").at("version").text()).isEqualTo("580.82.7");
        List<JsonTree> devices = server.cluster.get(RealServer.SLICES + "/node-1-gpu.sluice.dev").at("spec").at("devices").elements();
        assertThat(devices).hasSize(2);
        assertThat(devices.getFirst().at("allowMultipleAllocations").isTrue()).isTrue();
        assertThat(devices.getFirst().at("capacity").at("memory").at("requestPolicy").at("validRange").at("step").text()).isEqualTo(Long.toString(64L << 20));
        assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private static boolean isRefused(ClusterClient own, Map<String, Object> slice) {
        try {
            own.create(RealServer.SLICES, slice);
            server.cluster.delete(RealServer.SLICES + "/other");
            return false;
        } catch (ClusterException e) {
            return true;
        }
    }

    @Test
    void shouldNotWriteTheSliceOfAnotherNode() throws Exception {
        ClusterClient own = new ClusterClient(account, Optional.empty(), Optional.empty());
        Map<String, Object> slice = Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceSlice", "metadata", Map.of("name", "other"), "spec", Map.of("driver", "gpu.sluice.dev",
                "nodeName", "node-2", "pool", Map.of("name", "node-2", "generation", 1, "resourceSliceCount", 1), "devices", List.of()));

        RealServer.await(() -> isRefused(own, slice)); // the server takes some seconds to begin with a policy
        assertThatThrownBy(() -> own.create(RealServer.SLICES, slice)).isInstanceOf(ClusterException.class).hasMessageContaining("only the slices of its own node");
        assertThatThrownBy(() -> own.get("/api/v1/secrets")).isInstanceOf(ClusterException.class).hasMessageContaining("403");
    }
}
