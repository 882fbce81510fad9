package sluice.kubernetes;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.region.place.SluiceException;

/// The command `sluice-kubernetes`: runs until it is stopped.
public final class NodeProgram {
    private static final int MISTAKE = 2;

    private NodeProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (List.of(arguments).equals(List.of("--help"))) {
            System.out.println("sluice-kubernetes: the node program of Sluice for Kubernetes (docs/kubernetes.md)\n" + NodeSettings.help());
            return;
        }
        CountDownLatch stopped = new CountDownLatch(1);
        try {
            NodeSettings settings = NodeSettings.parse(List.of(arguments), System.getenv());
            Cluster cluster = settings.server().<Cluster>map(server -> new ClusterClient(server, Optional.empty(), Optional.empty()))
                    .orElseGet(() -> ClusterClient.ofPod(System.getenv()));
            NodeDriver driver = new NodeDriver(settings, cluster, System.err);
            Runtime.getRuntime().addShutdownHook(new Thread(driver::close));
        } catch (SluiceException e) {
            System.err.println("sluice-kubernetes: " + e.getMessage());
            System.exit(MISTAKE);
        }
        stopped.await();
    }
}
