package sluice.kubernetes;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import sluice.api.client.AgentClient;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.node.NodeAgent;

/// A real Kubernetes node on this machine, with an agent and a node program of this build as processes beside it, and a simulated GPU.
final class RealNode {
    private static final Path SLUICE = Path.of(System.getProperty("sluice.home", RealServer.SOURCES.resolve("../dist/target/sluice").toString())).toAbsolutePath().normalize();

    final Path folder;
    final ClusterClient cluster;
    private final RealServer server;
    private final URI account;

    /// Why no node can be started here; empty if one can.
    static String missing() {
        String missing = RealServer.missing("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl", "containerd", "containerd-shim-runc-v2", "ctr",
                "runc", "busybox");
        if (!missing.isEmpty()) {
            return missing;
        }
        if (!"root".equals(System.getProperty("user.name"))) {
            return "kubelet and containerd need root";
        }
        return Files.isExecutable(SLUICE.resolve("bin/sluice")) ? "" : "there is no distribution in " + SLUICE + "; build it first";
    }

    RealNode(Path folder) throws Exception {
        this.folder = folder;
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        server = new RealServer(folder, "up");
        cluster = server.cluster;
        server.manifests();
        account = server.account();
        startAgent();
        startDriver();
        RealServer.await(() -> RealServer.answers(cluster, RealServer.SLICES + "/node-1-gpu.sluice.dev"));
    }

    void startAgent() throws IOException {
        Path runtime = Files.createDirectories(folder.resolve("runtime"));
        Files.setPosixFilePermissions(runtime, PosixFilePermissions.fromString("rwx------"));
        Files.createDirectories(simulated().getParent());
        Path settings = folder.resolve("agent.conf");
        Files.write(settings, List.of("all-users = yes", "look-in = " + folder, "socket = " + agent(), "register-socket = " + register(), "history-size = 2m",
                "state-directory = " + folder.resolve("agent-state")));
        server.start("agent", List.of(SLUICE.resolve("bin/sluice").toString(), "agent", "--config", settings.toString()), Map.of("SLUICE_RUNTIME_DIR", runtime.toString(),
                "SLUICE_SIM_STATE", simulated().toString(), "LD_LIBRARY_PATH", SLUICE.resolve("lib/sim").toString()));
    }

    /// With the flags of its launcher.
    void startDriver() throws IOException {
        server.start("driver", List.of(System.getProperty("java.home") + "/bin/java", "-Xms8m", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), NodeProgram.class.getName(), "--node", "node-1", "--server", account.toString(),
                "--agent", agent().toString(), "--register", register().toString(), "--kubelet", folder.resolve("node/kubelet").toString(), "--cdi",
                folder.resolve("node/cdi").toString(), "--state", folder.resolve("driver").toString(), "--library", SLUICE.resolve("lib").toString(), "--simulated",
                SLUICE.resolve("lib/sim").toString(), "--simulated-state", simulated().toString()), Map.of());
    }

    private Path agent() {
        return folder.resolve("runtime/agent.sock");
    }

    private Path register() {
        return folder.resolve("register/agent-register.sock");
    }

    private Path simulated() {
        return folder.resolve("gpus/state");
    }

    void startKubelet() throws Exception {
        server.node("start", "kubelet");
    }

    void killKubelet() throws Exception {
        server.node("kill", "kubelet");
    }

    /// `agent` or `driver`
    void kill(String name) throws InterruptedException {
        server.kill(name);
    }

    long pid(String name) {
        return server.pid(name);
    }

    /// The claims that the agent knows.
    List<String> declared() {
        return new NodeAgent(agent()).declared();
    }

    /// What the driver has given away.
    long usedBytes() {
        return JsonTree.parse(new AgentClient(agent()).ask("GET", "/v1/machine", new byte[0]).body()).at("gpus").elements().getFirst().at("usedBytes").number();
    }

    void stop() throws Exception {
        server.stop();
    }
}
