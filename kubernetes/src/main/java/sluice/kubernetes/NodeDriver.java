package sluice.kubernetes;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.kubelet.KubeletSockets;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.slices.SlicePublisher;
import sluice.region.place.SluiceException;

/// The node program as a whole: it answers kubelet, and keeps agent, runtime and API server at what is on disk.
public final class NodeDriver implements AutoCloseable {
    private static final Duration REPEAT = Duration.ofSeconds(60);
    private static final Duration REPEAT_AFTER_FAILURE = Duration.ofSeconds(2);

    private final NodeClaims claims;
    private final SlicePublisher slices;
    private final KubeletSockets sockets;
    private final PrintStream log;
    private final Semaphore due = new Semaphore(1);
    private final Thread keeper;
    private String lastProblem = "";

    NodeDriver(NodeSettings settings, Cluster cluster, PrintStream log) {
        this.log = log;
        NodeAgent agent = new NodeAgent(settings.agent());
        claims = new NodeClaims(NodeSettings.DRIVER, cluster, agent, settings.state(), settings.cdi(), settings.edits());
        slices = new SlicePublisher(NodeSettings.DRIVER, settings.node(), cluster, agent);
        sockets = new KubeletSockets(settings.kubelet(), NodeSettings.DRIVER, claims, due::release, log);
        keeper = Thread.ofPlatform().daemon().name("keeper").start(this::keep);
    }

    private void keep() {
        Duration wait = Duration.ZERO;
        while (!Thread.currentThread().isInterrupted()) {
            try {
                due.tryAcquire(wait.toMillis(), TimeUnit.MILLISECONDS);
                due.drainPermits();
                wait = bring() ? REPEAT : REPEAT_AFTER_FAILURE;
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private boolean bring() {
        boolean reconciled = attempt(claims::reconcile);
        return attempt(slices::publish) && reconciled;
    }

    /// A problem is told once, until it is another.
    private boolean attempt(Runnable action) {
        try {
            action.run();
            return true;
        } catch (SluiceException e) {
            if (!lastProblem.equals(e.getMessage())) {
                lastProblem = e.getMessage();
                log.println("sluice-kubernetes: " + e.getMessage() + "; trying again");
            }
            return false;
        }
    }

    @Override
    public void close() {
        keeper.interrupt();
        sockets.close();
    }
}
