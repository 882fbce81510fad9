package sluice.it.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.api.json.JsonTree;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.kubernetes.FakeHttp;
import sluice.kubernetes.FakeKubelet;

/// A claim from kubelet's request to the limit that a program meets: node program, agent, library and program are real processes.
@Timeout(120)
@Isolated
class ClaimTest extends OnMachine {
    private static final Path NODE_PROGRAM = Path.of(System.getProperty("sluice.kubernetes.home"), "bin/sluice-kubernetes");
    private static final String UID = "6f1c2d1e-0000-4000-8000-0123456789ab";
    private static final String CLAIM = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu";
    private static final long GIB = 1L << 30;

    private FakeHttp cluster;
    private FakeKubelet kubelet;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeHttp();
        cluster.put("/api/v1/nodes/node-1", Map.of("metadata", Map.of("name", "node-1", "uid", "node-uid")));
        machine.with("SLUICE_SIM_GPUS", "2").with("LD_LIBRARY_PATH", Machine.SIM.toString()); // the agent tells of the GPUs that its own driver has
        machine.startAgent("policy = " + Files.writeString(directory.resolve("policy"), "* -> memory=1m\n"), "register-socket = " + register(), "history-size = 2m");
        machine.with("JAVA_HOME", System.getProperty("java.home"));
        Process node = machine.startPlain(NODE_PROGRAM.toString(), "--node", "node-1", "--server", cluster.address().toString(), "--agent", machine.runtimeDirectory().resolve("agent.sock").toString(),
                "--register", register().toString(), "--kubelet", directory.resolve("kubelet").toString(), "--state", directory.resolve("claims").toString(),
                "--cdi", directory.resolve("cdi").toString(), "--library", Machine.LIBRARY.getParent().toString(), "--simulated", Machine.SIM.toString(),
                "--simulated-state", directory.resolve("gpu").toString());
        for (int look = 0; look < 400 && !cluster.get("/apis/resource.k8s.io/v1/resourceslices/node-1-gpu.sluice.dev").has("spec"); look++) {
            assertThat(node.isAlive()).as("the node program runs").isTrue();
            Thread.sleep(50);
        }
        kubelet = new FakeKubelet(directory.resolve("kubelet"), "");
    }

    @AfterEach
    void stop() {
        if (kubelet != null) {
            kubelet.close();
        }
        cluster.close();
    }

    private Path register() {
        return directory.resolve("register/agent-register.sock");
    }

    /// Gives the claim 1 GiB of a GPU that the node has published.
    private void allocate(int number) {
        String gpu = cluster.get("/apis/resource.k8s.io/v1/resourceslices/node-1-gpu.sluice.dev").at("spec").at("devices").elements().get(number).at("name").text();
        cluster.put(CLAIM, Map.of("metadata", Map.of("name", "train-gpu", "uid", UID), "status", Map.of("reservedFor", List.of(Map.of("resource", "pods", "name", "train", "uid", "pod-uid")), "allocation", Map.of("devices", Map.of("results", List.of(Map.of(
                "driver", "gpu.sluice.dev", "request", "gpu", "pool", "node-1", "device", gpu, "consumedCapacity", Map.of("memory", "1Gi", "compute", "50"))))))));
    }

    /// The environment of a container with the device, as the runtime takes it from the CDI file.
    private Map<String, String> environment(String device) throws Exception {
        Map<String, String> environment = new HashMap<>(Map.of("SLUICE_RUNTIME_DIR", directory.resolve("nowhere").toString()));
        try (Stream<Path> files = Files.list(directory.resolve("cdi"))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".json")).toList()) {
                JsonTree cdi = JsonTree.parse(Files.readAllBytes(file));
                for (JsonTree each : cdi.at("devices").elements()) {
                    if (device.equals(cdi.at("kind").text() + "=" + each.at("name").text())) {
                        each.at("containerEdits").at("mounts").elements().forEach(mount -> assertThat(Path.of(mount.at("hostPath").text())).exists());
                        each.at("containerEdits").at("env").elements().stream().map(JsonTree::text)
                                .forEach(entry -> environment.put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1)));
                    }
                }
            }
        }
        return environment;
    }

    private Map<String, String> prepare(int number) throws Exception {
        allocate(number);
        var answer = kubelet.prepare(FakeKubelet.claim("team", "train-gpu", UID));
        assertThat(answer.getError()).isEmpty();
        return environment(answer.getDevices(0).getCdiDeviceIds(0));
    }

    @Test
    void shouldGiveAProgramTheGpuOfItsClaimAlone() throws Exception {
        Map<String, String> environment = prepare(1);
        assertThat(environment).containsEntry("SLUICE_SIM_GPUS", "2");
        Process hog = machine.startPreloaded(environment, Machine.program("hog"), "--step", "64m", "--count", "2", "--hold", "60000");
        assertThat(Machine.awaitLine(hog, "got ")).startsWith("got 2 ");

        String published = cluster.get("/apis/resource.k8s.io/v1/resourceslices/node-1-gpu.sluice.dev").at("spec").at("devices").elements().get(1).at("attributes").at("uuid").at("string").text();
        assertThat(machine.sluice("inspect", "k8s.team.train-gpu").output()).containsPattern("\\n +1  " + published);
        assertThat(machine.preloaded(environment, Machine.program("hog"), "--device", "1").output()).as("the other GPU").doesNotContainPattern("got [1-9]");
    }

    @Test
    void shouldHoldTheProgramsOfAClaimToItsMemory() throws Exception {
        Map<String, String> environment = prepare(0);
        assertThat(environment).containsKeys("LD_PRELOAD", "SLUICE_AGENT", "SLUICE_LABEL");

        var alone = machine.preloaded(environment, Machine.program("hog"), "--step", "64m");
        assertThat(alone.output()).as(alone.errors()).contains("total " + GIB).contains("got 16 " + GIB + " 2");

        Process first = machine.startPreloaded(environment, Machine.program("hog"), "--step", "64m", "--count", "10", "--hold", "60000");
        assertThat(Machine.awaitLine(first, "got ")).startsWith("got 10 ");
        var second = machine.preloaded(environment, Machine.program("hog"), "--step", "64m");
        assertThat(second.output()).as("two containers of a claim share its limits").contains("got 6 ");
        assertThat(machine.sluice("ps", "--wide").output()).contains("k8s.team.train-gpu").contains("1.0 GiB").contains("640.0 MiB").contains("  team/train  train-gpu  team/train: ");

        assertThat(kubelet.unprepare(FakeKubelet.claim("team", "train-gpu", UID))).isEmpty();
        try (Stream<Path> left = Files.list(directory.resolve("cdi"))) {
            assertThat(left).isEmpty();
        }
        var late = machine.preloaded(environment, Machine.program("hog"), "--step", "64m");
        assertThat(late.output()).as("nobody gets memory by a claim that was taken back").doesNotContainPattern("got [1-9]");
    }
}
