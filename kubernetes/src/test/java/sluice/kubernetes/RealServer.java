package sluice.kubernetes;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.cluster.ClusterException;

/// A real API server, alone or as a part of a node on this machine. The script `src/test/node/node` starts the programs of Kubernetes, and
/// `-Dsluice.kubernetes.node=FOLDER` names the folder where they are.
final class RealServer {
    static final String SWITCH = "sluice.kubernetes.node";
    static final Path SOURCES = Path.of(System.getProperty("basedir", ".")).toAbsolutePath().normalize();
    static final Path MANIFESTS = SOURCES.resolve("../deploy/kubernetes").normalize();
    static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    /// The first of nine.
    private static final int PORT = Integer.getInteger("sluice.kubernetes.port", 16480);
    private static final int ADMINISTRATOR = PORT + 7;
    private static final int ACCOUNT = PORT + 8;
    private static final Duration PATIENCE = Duration.ofSeconds(240);

    final Path folder;
    /// As the administrator.
    final ClusterClient cluster = client(ADMINISTRATOR);
    private final Map<String, Process> processes = new LinkedHashMap<>();

    /// Why these programs cannot be used here; empty if they can.
    static String missing(String... programs) {
        String binaries = System.getProperty(SWITCH, "");
        if (binaries.isEmpty()) {
            return "-D" + SWITCH + "=FOLDER names no folder with the programs of Kubernetes";
        }
        List<String> absent = List.of(programs).stream().filter(program -> !Files.isExecutable(Path.of(binaries, program))).toList();
        return absent.isEmpty() ? "" : binaries + " has no " + absent;
    }

    /// @param what `server`, or `up` for the whole node
    RealServer(Path folder, String what) throws Exception {
        this.folder = folder;
        node(what);
        proxy("administrator", ADMINISTRATOR, folder.resolve("node/pki/admin.conf"));
    }

    private static ClusterClient client(int port) {
        return new ClusterClient(URI.create("http://127.0.0.1:" + port), Optional.empty(), Optional.empty());
    }

    private static String program(String name) {
        return Path.of(System.getProperty(SWITCH), name).toString();
    }

    /// `node FOLDER …`
    String node(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(SOURCES.resolve("src/test/node/node").toString(), folder.resolve("node").toString()));
        command.addAll(List.of(arguments));
        return output(command);
    }

    String kubectl(String... arguments) throws Exception {
        return kubectl(folder.resolve("node/pki/admin.conf"), arguments);
    }

    /// @param access a kubeconfig
    String kubectl(Path access, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(program("kubectl"), "--kubeconfig", access.toString()));
        command.addAll(List.of(arguments));
        return output(command);
    }

    private String output(List<String> command) throws Exception {
        Path answer = Files.createTempFile(folder, "out", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(answer.toFile());
        builder.environment().putAll(Map.of("BINARIES", System.getProperty(SWITCH), "PORT", "" + PORT));
        Process process = builder.start();
        boolean ended = process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        String said = Files.readString(answer);
        Files.delete(answer);
        if (!ended || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException(command + ": " + said);
        }
        return said;
    }

    void start(String name, List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(name + ".log").toFile()));
        builder.environment().putAll(environment);
        processes.put(name, builder.start());
    }

    long pid(String name) {
        return processes.get(name).pid();
    }

    void kill(String name) throws InterruptedException {
        processes.get(name).destroyForcibly().waitFor();
    }

    private void proxy(String name, int port, Path access) throws Exception {
        start(name, List.of(program("kubectl"), "--kubeconfig", access.toString(), "proxy", "--port", "" + port), Map.of());
        ClusterClient through = client(port);
        await(() -> answers(through, "/version"));
    }

    /// The parts of the manifests that no pod runs.
    void manifests() throws Exception {
        apply("base/namespace", "base/account", "base/device-class", "base/slices-of-own-node", "components/metrics/access");
    }

    void apply(String... manifests) throws Exception {
        for (String each : manifests) {
            kubectl("-n", "sluice-system", "apply", "-f", MANIFESTS.resolve(each + ".yaml").toString());
        }
    }

    /// @return an address of the API server where requests have the node program's account, bound to this node as the token of a pod is
    URI account() throws Exception {
        proxy("account", ACCOUNT, access("sluice-node", "--bound-object-kind", "Node", "--bound-object-name", "node-1", "--bound-object-uid",
                cluster.get("/api/v1/nodes/node-1").at("metadata").at("uid").text()));
        return URI.create("http://127.0.0.1:" + ACCOUNT);
    }

    /// @param bound what the token is bound to, as options of `kubectl create token`
    /// @return a kubeconfig of an account in `sluice-system`
    Path access(String name, String... bound) throws Exception {
        List<String> create = new ArrayList<>(List.of("-n", "sluice-system", "create", "token", name, "--duration", "8h"));
        create.addAll(List.of(bound));
        String token = kubectl(create.toArray(String[]::new)).strip();
        Path access = folder.resolve(name + bound.length + ".conf");
        Files.writeString(access, Files.readString(folder.resolve("node/pki/admin.conf")).replaceAll("user: \\{client.*", "user: {token: " + token + "}}]"));
        return access;
    }

    static boolean answers(ClusterClient cluster, String path) {
        try {
            cluster.get(path);
            return true;
        } catch (ClusterException e) {
            return false;
        }
    }

    static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("did not happen in " + PATIENCE.toSeconds() + " s");
            }
            Thread.sleep(50);
        }
    }

    void stop() throws Exception {
        for (Process process : processes.values()) {
            process.destroyForcibly().waitFor();
        }
        node("down");
    }
}
