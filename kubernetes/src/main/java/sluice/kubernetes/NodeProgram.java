package sluice.kubernetes;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.plugin.DevicePlugins;
import sluice.kubernetes.webhook.WebhookProgram;
import sluice.region.place.SluiceException;

/// The command `sluice-kubernetes`: runs until it is stopped. `sluice-kubernetes install FROM TO` copies the distribution to the node.
public final class NodeProgram {
    private static final int MISTAKE = 2;
    private static final int INSTALL_WORDS = 3;

    private NodeProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (List.of(arguments).equals(List.of("--help"))) {
            System.out.println("sluice-kubernetes: the node program of Sluice for Kubernetes (docs/kubernetes.md)\n" + NodeSettings.help() + "\n" + WebhookProgram.help()
                    + "\n\nsluice-kubernetes install FROM TO: copies the distribution to a folder of the node");
            return;
        }
        if (arguments.length > 0 && arguments[0].equals("webhook")) {
            WebhookProgram.run(List.of(arguments).subList(1, arguments.length), System.getenv());
            return;
        }
        if (arguments.length == INSTALL_WORDS && arguments[0].equals("install")) {
            try {
                System.out.println("sluice-kubernetes: " + Install.copy(Path.of(arguments[1]), Path.of(arguments[2])) + " files are new in " + arguments[2]);
            } catch (SluiceException e) {
                System.err.println("sluice-kubernetes: " + e.getMessage());
                System.exit(MISTAKE);
            }
            return;
        }
        CountDownLatch stopped = new CountDownLatch(1);
        try {
            NodeSettings settings = NodeSettings.parse(List.of(arguments), System.getenv());
            Cluster cluster = settings.server().<Cluster>map(server -> new ClusterClient(server, Optional.empty(), Optional.empty()))
                    .orElseGet(() -> ClusterClient.ofPod(System.getenv()));
            Runtime.getRuntime().addShutdownHook(new Thread(start(settings, cluster, System.err)));
        } catch (SluiceException e) {
            System.err.println("sluice-kubernetes: " + e.getMessage());
            System.exit(MISTAKE);
        }
        stopped.await();
    }

    /// @return what stops it
    static Runnable start(NodeSettings settings, Cluster cluster, PrintStream log) {
        if (!settings.isDevicePlugin()) {
            return new NodeDriver(settings, cluster, log)::close;
        }
        NodeAgent agent = new NodeAgent(settings.agent());
        DevicePlugins plugins = new DevicePlugins(settings.plugin(), settings.edits(), agent, cluster, settings.node(), log);
        try {
            NodePorts ports = new NodePorts(settings, agent, cluster, plugins::isReady, plugins::isAlive, log);
            return () -> {
                ports.close();
                plugins.close();
            };
        } catch (RuntimeException e) {
            plugins.close();
            throw e;
        }
    }
}
