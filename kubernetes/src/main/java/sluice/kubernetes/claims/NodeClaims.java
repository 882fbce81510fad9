package sluice.kubernetes.claims;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.json.JsonTree;
import sluice.api.model.NodeClaim;
import sluice.kubernetes.claims.PreparedClaim.PreparedDevice;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.Paths;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.node.NodeGpu;
import sluice.region.place.SluiceException;

/// The claims on this node.
///
/// A claim is first written down, then declared to the agent, then described to the container runtime, and it is taken back in the opposite
/// order of use: agent, runtime, disk. Each step can be repeated, so a program that is killed between two of them goes on where it was.
public final class NodeClaims implements AutoCloseable {
    private static final int TOKEN_BYTES = 32;
    private static final int GENERATION_BYTES = 4;

    private final String driver;
    private final Cluster cluster;
    private final NodeAgent agent;
    private final ClaimPods pods;
    private final ClaimStore store;
    private final CdiFiles cdi;
    private final SecureRandom random = new SecureRandom();

    /// A device for kubelet.
    public record Device(String request, String pool, String device, List<String> cdiIds) {}

    /// @param driver   name of this driver in the cluster
    /// @param state    folder of this program, and of the one that replaces it
    /// @param cdiFiles folder of the container runtime
    public NodeClaims(String driver, Cluster cluster, NodeAgent agent, Path state, Path cdiFiles, ContainerEdits edits) {
        this.driver = driver;
        this.cluster = cluster;
        this.agent = agent;
        pods = new ClaimPods(cluster);
        try {
            store = new ClaimStore(state);
            cdi = new CdiFiles(cdiFiles, edits);
        } catch (IOException e) {
            throw new SluiceException("cannot use " + state + " and " + cdiFiles + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// All claims that are prepared.
    public List<PreparedClaim> prepared() {
        return List.copyOf(store.all().values());
    }

    /// Makes a claim ready for containers; again gives the same answer.
    public List<Device> prepare(String namespace, String name, String uid) {
        NodeClaim.checkId(uid);
        return store.locked(uid, () -> {
            Optional<PreparedClaim> known = store.find(uid);
            known.map(PreparedClaim::claim).filter(claim -> !claim.namespace().equals(namespace) || !claim.claim().equals(name)).ifPresent(claim -> {
                throw new SluiceException("claim " + uid + " is " + claim.namespace() + "/" + claim.claim() + " and not " + namespace + "/" + name);
            });
            boolean isNew = !store.has(uid);
            PreparedClaim claim = known.orElseGet(() -> {
                PreparedClaim made = allocate(namespace, name, uid);
                store.keep(made);
                return made;
            });
            try {
                agent.declarePatiently(claim.token(), claim.claim());
            } catch (SluiceException e) {
                if (isNew && !NodeAgent.isAway(e)) {
                    store.forget(uid); // the agent has nothing of it, and would refuse it at each reconciliation
                }
                throw e;
            }
            cdi.write(claim, minors());
            return claim.devices().stream().map(device -> new Device(device.request(), device.pool(), device.device(), cdi.ids(device))).toList();
        });
    }

    /// Takes back what a claim had; one that is not known has nothing.
    public void unprepare(String uid) {
        NodeClaim.checkId(uid);
        store.locked(uid, () -> {
            if (store.has(uid)) {
                agent.withdraw(uid);
                cdi.delete(uid);
                store.forget(uid);
            }
            return uid;
        });
    }

    /// Brings agent and runtime to what is on disk, after a restart of either or of this program. A claim that cannot be brought there does not
    /// hold up the others; the first failure is thrown at the end.
    public void reconcile() {
        Map<String, Integer> minors = minors();
        List<SluiceException> failures = new ArrayList<>();
        for (String uid : store.ids()) {
            attempt(uid, failures, () -> store.find(uid).ifPresent(claim -> {
                agent.declare(claim.token(), claim.claim());
                cdi.write(claim, minors);
            }));
        }
        agent.declared().forEach(uid -> attempt(uid, failures, () -> unlessKept(uid, () -> agent.withdraw(uid))));
        cdi.ids().forEach(uid -> attempt(uid, failures, () -> unlessKept(uid, () -> cdi.delete(uid))));
        if (!failures.isEmpty()) {
            throw failures.getFirst();
        }
    }

    /// Names the claims that several pods share after one that still uses them. Claims of a pod of their own end with it, and are not asked for.
    public void follow() {
        ClusterException failure = null;
        for (PreparedClaim claim : prepared().stream().filter(PreparedClaim::isShared).toList()) {
            try {
                follow(claim.claim());
            } catch (ClusterException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void follow(NodeClaim known) {
        JsonTree object;
        try {
            object = cluster.get(Paths.claim(known.namespace(), known.claim()));
        } catch (ClusterException e) {
            if (e.isNotFound()) {
                return; // kubelet takes it back soon
            }
            throw e;
        }
        List<String> users = ClaimPods.names(object);
        if (!known.id().equals(object.at("metadata").at("uid").value()) || users.isEmpty() || users.contains(known.pod())) {
            return;
        }
        ClaimPods.User user = pods.user(object, known.namespace(), other -> false);
        store.locked(known.id(), () -> {
            store.find(known.id()).ifPresent(claim -> {
                PreparedClaim now = claim.of(user);
                store.keep(now);
                agent.declare(now.token(), now.claim());
            });
            return known;
        });
    }

    private void attempt(String uid, List<SluiceException> failures, Runnable action) {
        try {
            store.locked(uid, () -> {
                action.run();
                return uid;
            });
        } catch (SluiceException e) {
            if (NodeAgent.isAway(e)) {
                throw e; // it would be away for the next claim too
            }
            failures.add(new SluiceException("claim " + uid + ": " + e.getMessage(), e));
        }
    }

    private void unlessKept(String uid, Runnable action) {
        if (!store.has(uid)) {
            action.run();
        }
    }

    private PreparedClaim allocate(String namespace, String name, String uid) {
        JsonTree object = cluster.get(Paths.claim(namespace, name));
        AllocatedClaim allocated = AllocatedClaim.parse(object, driver);
        if (!allocated.uid().equals(uid)) {
            throw new SluiceException("the claim " + namespace + "/" + name + " is now " + allocated.uid() + ", and " + uid + " is gone");
        }
        ClaimPods.User user = pods.user(object, namespace, other -> prepared().stream().map(PreparedClaim::claim)
                .anyMatch(claim -> claim.namespace().equals(namespace) && claim.claim().equals(other)));
        String generation = HexFormat.of().formatHex(bytes(GENERATION_BYTES));
        List<PreparedDevice> devices = new ArrayList<>();
        for (AllocatedClaim.Share share : allocated.shares()) {
            String uuid = agent.gpu(share.device()).map(NodeGpu::uuid).orElseThrow(() -> new SluiceException("the node has no GPU " + share.device() + " any more"));
            devices.add(new PreparedDevice(share.request(), share.pool(), share.device(), share.id(), uuid, uid + "-" + generation + "-" + share.device()));
        }
        NodeClaim claim = new NodeClaim(uid, devices.stream().map(PreparedDevice::uuid).distinct().toList(), allocated.tenantLimits(), namespace, name, user.pod(), user.container());
        return new PreparedClaim(claim, Base64.getUrlEncoder().withoutPadding().encodeToString(bytes(TOKEN_BYTES)), generation, !ClaimPods.isOfPod(object), Instant.now().getEpochSecond(), devices);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /// Numbers of device files, by UUID; they may be others after a reboot.
    private Map<String, Integer> minors() {
        Map<String, Integer> minors = new HashMap<>();
        for (NodeGpu gpu : cdi.namesNodes() ? agent.gpus() : List.<NodeGpu>of()) {
            gpu.minor().ifPresent(number -> minors.put(gpu.uuid(), number));
        }
        return minors;
    }

    @Override
    public void close() {
        store.close();
    }
}
