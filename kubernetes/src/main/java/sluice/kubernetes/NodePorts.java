package sluice.kubernetes;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.metrics.MetricsAccess;
import sluice.kubernetes.metrics.MetricsKeys;
import sluice.kubernetes.metrics.MetricsServer;
import sluice.kubernetes.node.NodeAgent;

/// The ports of the node program on the pod network, as a driver and as a device plugin.
final class NodePorts implements AutoCloseable {
    private final List<AutoCloseable> open = new ArrayList<>();

    /// @param ready whether it has begun to serve kubelet
    /// @param alive whether it still does
    NodePorts(NodeSettings settings, NodeAgent agent, Cluster cluster, BooleanSupplier ready, BooleanSupplier alive, PrintStream log) {
        try {
            settings.metricsPort().ifPresent(port -> open.add(new MetricsServer(port, agent, new MetricsKeys(settings.metricsTls(), log), new MetricsAccess(cluster, settings.metricsToken()), log)));
            settings.otherPorts().forEach((names, port) -> port.ifPresent(number -> open.add(new MetricsServer(number, agent, names, log))));
            settings.healthPort().ifPresent(port -> open.add(new HealthPort(port, ready, alive)));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public void close() {
        for (AutoCloseable port : open) {
            try {
                port.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
