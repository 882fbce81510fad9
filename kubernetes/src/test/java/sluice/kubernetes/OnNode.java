package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.wire.Claim;

/// A node program between a fake kubelet, a fake API server and a fake agent, over real sockets.
@Timeout(60)
abstract class OnNode {
    static final String UID = "6f1c2d1e-0000-4000-8000-0123456789ab";
    static final Claim CLAIM = FakeKubelet.claim("team", "train-gpu", UID);
    static final String POD = "11111111-0000-4000-8000-0123456789ab";
    static final String PARAMETERS = "{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"GpuParameters\"%s}";
    static final String SLICE = "/apis/resource.k8s.io/v1/resourceslices/node-1-gpu.sluice.dev";

    @TempDir
    Path folder;

    FakeHttp cluster;
    FakeAgent agent;
    NodeDriver driver;
    FakeKubelet kubelet;
    final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeHttp();
        cluster.put("/api/v1/nodes/node-1", Map.of("metadata", Map.of("name", "node-1", "uid", "node-uid")));
        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        restart();
    }

    void restart(String... more) {
        stopDriver();
        driver = driver("", more);
        kubelet = new FakeKubelet(folder.resolve("kubelet"), "");
    }

    /// @param instance of the program's pod
    NodeDriver driver(String instance, String... more) {
        List<String> options = new ArrayList<>(List.of("--node", "node-1", "--agent", folder.resolve("agent/agent.sock").toString(), "--kubelet", folder.resolve("kubelet").toString(),
                "--state", folder.resolve("state").toString(), "--cdi", folder.resolve("cdi").toString()));
        options.addAll(List.of(more));
        return new NodeDriver(NodeSettings.parse(options, Map.of("POD_UID", instance)), new ClusterClient(cluster.address(), Optional.empty(), Optional.empty()), new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    void stopDriver() {
        if (driver != null) {
            kubelet.close();
            driver.close();
        }
    }

    @AfterEach
    void stop() throws IOException {
        stopDriver();
        agent.close();
        cluster.close();
    }

    static String result(String device, String memory, String compute) {
        return "{\"driver\":\"gpu.sluice.dev\",\"request\":\"gpu\",\"pool\":\"node-1\",\"device\":\"" + device + "\",\"shareID\":\"s\",\"consumedCapacity\":{\"memory\":\"" + memory
                + "\",\"compute\":\"" + compute + "\"}}";
    }

    void allocate(Claim claim, String parameters, String... results) {
        allocateWith(claim, parameters.isEmpty() ? "" : "{\"source\":\"FromClaim\",\"requests\":[],\"opaque\":{\"driver\":\"gpu.sluice.dev\",\"parameters\":" + parameters + "}}", results);
    }

    /// @param config elements of the allocation's `config`
    void allocateWith(Claim claim, String config, String... results) {
        cluster.put("/apis/resource.k8s.io/v1/namespaces/" + claim.getNamespace() + "/resourceclaims/" + claim.getName(), "{\"metadata\":{\"name\":\"" + claim.getName() + "\",\"uid\":\""
                + claim.getUid() + "\"},\"status\":{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"train\",\"uid\":\"" + POD + "\"}],\"allocation\":{\"devices\":{\"results\":["
                + String.join(",", results) + "],\"config\":[" + config + "]}}}}");
    }

    /// The pod `train`, with containers that use claims: `main=train-gpu,other-gpu`.
    void pod(String... containers) {
        List<Map<String, Object>> spec = new ArrayList<>();
        List<Map<String, Object>> references = new ArrayList<>();
        List<Map<String, Object>> statuses = new ArrayList<>();
        for (String container : containers) {
            String name = container.substring(0, container.indexOf('='));
            List<String> claims = List.of(container.substring(name.length() + 1).split(","));
            spec.add(Map.of("name", name, "resources", Map.of("claims", claims.stream().map(claim -> Map.of("name", claim)).toList())));
            claims.forEach(claim -> references.add(Map.of("name", claim, "resourceClaimName", claim)));
            statuses.add(Map.of("name", name, "containerID", "containerd://" + name.repeat(64).substring(0, 64)));
        }
        cluster.put("/api/v1/namespaces/team/pods/train", Map.of("metadata", Map.of("name", "train", "namespace", "team", "uid", POD), "spec",
                Map.of("containers", spec, "resourceClaims", references), "status", Map.of("containerStatuses", statuses)));
    }

    void allocate() {
        allocate(CLAIM, "", result("gpu-0000", "10Gi", "25"));
    }

    /// Files of claims that the node program has written down.
    List<Path> written() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("state"))) {
            return files.filter(file -> file.toString().endsWith(".json")).toList();
        }
    }

    List<Path> cdiFiles() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("cdi"))) {
            return files.filter(file -> !file.getFileName().toString().startsWith(".")).toList(); // the keeper may be writing one
        }
    }

    static JsonTree json(Path file) throws IOException {
        return JsonTree.parse(Files.readAllBytes(file));
    }

    void await(BooleanSupplier condition) throws InterruptedException {
        for (int attempt = 0; attempt < 800 && !condition.getAsBoolean(); attempt++) {
            Thread.sleep(25);
        }
        assertThat(condition.getAsBoolean()).as("in time; the node program says: " + log).isTrue();
    }
}
