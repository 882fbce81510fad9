package sluice.kubernetes;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.plugin.DevicePlugins;
import sluice.kubernetes.webhook.WebhookProgram;
import sluice.region.place.SluiceException;

/// The command `sluice-kubernetes`: runs until it is stopped.
public final class NodeProgram {
    private static final int MISTAKE = 2;

    private NodeProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (List.of(arguments).equals(List.of("--help"))) {
            System.out.println("sluice-kubernetes: the node program of Sluice for Kubernetes (docs/kubernetes.md)\n" + NodeSettings.help() + "\n" + WebhookProgram.help());
            return;
        }
        if (arguments.length > 0 && arguments[0].equals("webhook")) {
            WebhookProgram.run(List.of(arguments).subList(1, arguments.length), System.getenv());
            return;
        }
        CountDownLatch stopped = new CountDownLatch(1);
        try {
            NodeSettings settings = NodeSettings.parse(List.of(arguments), System.getenv());
            Cluster cluster = settings.server().<Cluster>map(server -> new ClusterClient(server, Optional.empty(), Optional.empty()))
                    .orElseGet(() -> ClusterClient.ofPod(System.getenv()));
            Runnable close = settings.isDevicePlugin() ? plugins(settings, cluster)::close : new NodeDriver(settings, cluster, System.err)::close;
            Runtime.getRuntime().addShutdownHook(new Thread(close));
        } catch (SluiceException e) {
            System.err.println("sluice-kubernetes: " + e.getMessage());
            System.exit(MISTAKE);
        }
        stopped.await();
    }

    private static DevicePlugins plugins(NodeSettings settings, Cluster cluster) {
        return new DevicePlugins(settings.plugin(), settings.edits(), new NodeAgent(settings.agent()), cluster, settings.node(), System.err);
    }
}
