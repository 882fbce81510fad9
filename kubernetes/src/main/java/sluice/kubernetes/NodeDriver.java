package sluice.kubernetes;

import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.kubelet.KubeletSockets;
import sluice.kubernetes.node.GpuWatch;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.node.NodeGpu;
import sluice.kubernetes.reports.ClaimReports;
import sluice.kubernetes.reports.PodEvents;
import sluice.kubernetes.slices.SlicePublisher;
import sluice.region.place.SluiceException;

/// The node program as a whole: it answers kubelet, and keeps agent, runtime and API server at what is on disk.
public final class NodeDriver implements AutoCloseable {
    private static final Duration REPEAT = Duration.ofSeconds(60);
    private static final Duration REPEAT_AFTER_FAILURE = Duration.ofSeconds(2);
    private static final Duration WATCH = Duration.ofSeconds(5);

    private final NodeClaims claims;
    private final GpuWatch gpus;
    private final SlicePublisher slices;
    private final KubeletSockets sockets;
    private final ClaimReports reports;
    private final PodEvents events;
    private final NodePorts ports;
    private final PrintStream log;
    private final Semaphore due = new Semaphore(1);
    private final Map<String, String> problems = new HashMap<>();
    private final List<Thread> threads;
    /// Agent, API server and kubelet's folders have been reached once. Whether a claim can be declared does not matter: the older program could not do it either.
    private volatile boolean isReady;
    private List<NodeGpu> lastGpus = List.of();

    NodeDriver(NodeSettings settings, Cluster cluster, PrintStream log) {
        this.log = log;
        NodeAgent agent = new NodeAgent(settings.agent());
        claims = new NodeClaims(NodeSettings.DRIVER, cluster, agent, settings.state(), settings.cdi(), settings.edits());
        gpus = new GpuWatch(agent, settings.state(), uuid -> claims.prepared().stream().anyMatch(claim -> claim.devices().stream().anyMatch(device -> device.uuid().equals(uuid))));
        slices = new SlicePublisher(NodeSettings.DRIVER, settings.node(), cluster, gpus, settings.defaults());
        reports = new ClaimReports(NodeSettings.DRIVER, cluster, claims);
        events = new PodEvents(NodeSettings.DRIVER, settings.node(), cluster, agent, claims);
        sockets = new KubeletSockets(settings.kubelet(), NodeSettings.DRIVER, settings.instance(), settings.node(), claims, due::release, log);
        gpus.listen(sockets::tell);
        threads = List.of(Thread.ofPlatform().daemon().name("keeper").start(this::keep), Thread.ofPlatform().daemon().name("watch").start(this::watch));
        ports = openPorts(settings, agent, cluster);
    }

    private NodePorts openPorts(NodeSettings settings, NodeAgent agent, Cluster cluster) {
        try {
            return new NodePorts(settings, agent, cluster, () -> isReady, this::isAlive, log);
        } catch (RuntimeException e) {
            end();
            throw e;
        }
    }

    private boolean isAlive() {
        return threads.stream().allMatch(Thread::isAlive) && sockets.answer();
    }

    private void keep() {
        Duration wait = Duration.ZERO;
        Duration afterFailure = REPEAT_AFTER_FAILURE;
        while (!Thread.currentThread().isInterrupted()) {
            try {
                due.tryAcquire(wait.toMillis(), TimeUnit.MILLISECONDS);
                due.drainPermits();
                boolean sockets = attempt("sockets", this.sockets::keep);
                boolean reconciled = attempt("claims", claims::reconcile);
                attempt("pods", claims::follow);
                boolean published = attempt("slices", slices::publish);
                isReady |= published && sockets;
                boolean isWell = published && reconciled && sockets;
                // A failure that lasts costs no more than the usual repetition.
                wait = isWell || afterFailure.compareTo(REPEAT) > 0 ? REPEAT : afterFailure;
                afterFailure = isWell ? REPEAT_AFTER_FAILURE : wait.multipliedBy(2);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /// What the cluster is told of: GPUs at once if they changed, claims and pods. Nothing waits for it.
    private void watch() {
        while (!Thread.currentThread().isInterrupted()) {
            try {
                attempt("GPUs", () -> {
                    lastGpus = gpus.look();
                    if (!lastGpus.equals(slices.published())) {
                        due.release();
                    }
                });
                attempt("status", () -> reports.tell(lastGpus));
                attempt("events", events::tell);
                Thread.sleep(WATCH);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /// Has it look at everything now.
    void wake() {
        due.release();
    }

    /// A problem is told once, until it is another.
    private boolean attempt(String what, Runnable action) {
        try {
            action.run();
            problem(what, "");
            return true;
        } catch (RuntimeException e) {
            problem(what, e instanceof SluiceException ? e.getMessage() : e.toString());
            return false;
        }
    }

    private synchronized void problem(String what, String text) {
        if (!text.equals(problems.put(what, text)) && !text.isEmpty()) {
            log.println("sluice-kubernetes: " + text + "; trying again");
        }
    }

    @Override
    public void close() {
        ports.close();
        end();
    }

    private void end() {
        threads.forEach(Thread::interrupt);
        sockets.close();
        claims.close();
    }
}
