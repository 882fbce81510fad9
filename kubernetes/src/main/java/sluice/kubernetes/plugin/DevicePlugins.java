package sluice.kubernetes.plugin;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.claims.ContainerEdits;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.node.NodeGpu;
import sluice.region.place.SluiceException;

/// The device plugin as a whole: it answers kubelet for each resource, and once in a while brings together kubelet, agent and disk.
public final class DevicePlugins implements AutoCloseable {
    private static final Duration LOOK_FOR_KUBELET = Duration.ofSeconds(1);
    private static final int LOOKS_FOR_EACH_REPEAT = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /// Where it finds what.
    ///
    /// @param kubelet    folder of kubelet
    /// @param state      folder of this program alone
    /// @param alnair     whether Alnair's resources are offered too
    /// @param workspaces folder of Alnair's workspaces
    /// @param socket     of the server with which Alnair's clients register
    public record Places(Path kubelet, Path state, boolean alnair, Path workspaces, Path socket) {
        List<UnitResource.Family> families() {
            return alnair ? List.of(UnitResource.Family.values()) : List.of(UnitResource.Family.SLUICE);
        }
    }

    private final NodeAgent agent;
    private final PrintStream log;
    private final PodUnits kubelet;
    private final UnitGiver giver;
    private final UnitClaims claims;
    private final List<PluginService> services;
    private final PluginSockets sockets;
    private final AlnairNotes notes;
    private final boolean alnair;
    private final Semaphore due = new Semaphore(0);
    private final Thread keeper;
    private volatile List<NodeGpu> gpus = List.of();
    private volatile boolean isReady;
    private volatile HeldUnits held = new HeldUnits(List.of());
    private List<NodeGpu> described = List.of();
    private String lastProblem = "";

    public DevicePlugins(Places places, ContainerEdits edits, NodeAgent agent, Cluster cluster, String node, PrintStream log) {
        this.agent = agent;
        this.log = log;
        alnair = places.alnair();
        notes = new AlnairNotes(cluster, node);
        kubelet = new PodUnits(places.kubelet().resolve("pod-resources/kubelet.sock"), places.families());
        giver = new UnitGiver(places.state(), new UnitEdits(edits, new AlnairFolders(places.workspaces()), places.socket()), () -> gpus, () -> held, log);
        claims = new UnitClaims(giver, agent, kubelet::list, this::named, Clock.systemUTC(), log);
        services = UnitResource.of(places.families()).map(resource -> new PluginService(resource, giver, claims, log)).toList();
        sockets = new PluginSockets(places.kubelet().resolve("device-plugins"), services);
        keeper = Thread.ofPlatform().daemon().name("keeper").start(this::keep);
    }

    /// Whether kubelet has taken all resources once.
    public boolean isReady() {
        return isReady;
    }

    public boolean isAlive() {
        return keeper.isAlive();
    }

    private void keep() {
        int looks = 0;
        boolean wanted = true;
        while (!Thread.currentThread().isInterrupted()) {
            if (wanted || looks++ % LOOKS_FOR_EACH_REPEAT == 0) {
                attempt(this::bring);
            }
            attempt(this::look);
            try {
                wanted = due.tryAcquire(LOOK_FOR_KUBELET.toMillis(), TimeUnit.MILLISECONDS);
                due.drainPermits();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /// Kubelet hears of this program only when it can be told of GPUs.
    private void look() {
        if (!gpus.isEmpty() && sockets.keep()) {
            claims.kubeletIsNew();
            isReady = true;
            log.println("sluice-kubernetes: kubelet knows " + String.join(", ", services.stream().map(service -> service.resource().resource()).toList()));
        }
    }

    private void bring() {
        gpus = agent.gpus();
        attempt(() -> {
            held = kubelet.list();
            claims.reconcile(held);
        });
        services.forEach(service -> service.show(new UnitList(service.resource(), gpus, held).units()));
        if (alnair && !gpus.equals(described)) {
            notes.describe(gpus);
            described = gpus;
        }
    }

    /// The cluster's annotations are for people and older tools; a container starts without them.
    private void named(GivenUnits given) {
        due.release();
        if (!given.workspace().isEmpty() && given.holder().isPresent()) {
            giver.workspaces().describe(given.workspace(), given.holder().get());
            Thread.ofVirtual().start(() -> attempt(() -> notes.describe(given, given.holder().get())));
        }
    }

    /// A problem is told once, until it is another.
    private void attempt(Runnable action) {
        try {
            action.run();
        } catch (SluiceException e) {
            tell(e.getMessage());
        } catch (RuntimeException e) {
            tell("the node program failed: " + e);
        }
    }

    private synchronized void tell(String problem) {
        if (!lastProblem.equals(problem)) {
            lastProblem = problem;
            log.println("sluice-kubernetes: " + problem + "; trying again");
        }
    }

    @Override
    public void close() {
        keeper.interrupt();
        try {
            keeper.join(PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sockets.close();
        kubelet.close();
    }
}
