package sluice.kubernetes.claims;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import sluice.api.json.JsonTree;
import sluice.api.model.NodeClaim;
import sluice.kubernetes.claims.PreparedClaim.PreparedDevice;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.node.NodeGpu;
import sluice.linux.DurableFolder;
import sluice.region.place.SluiceException;

/// The claims on this node.
///
/// A claim is first written down, then declared to the agent, then described to the container runtime, and it is taken back in the opposite
/// order of use: agent, runtime, disk. Each step can be repeated, so a program that is killed between two of them goes on where it was.
public final class NodeClaims {
    private static final String SUFFIX = ".json";
    private static final int TOKEN_BYTES = 32;
    private static final int GENERATION_BYTES = 4;
    private static final int LOCKS = 64;

    private final String driver;
    private final Cluster cluster;
    private final NodeAgent agent;
    private final DurableFolder folder;
    private final CdiFiles cdi;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, PreparedClaim> prepared = new ConcurrentHashMap<>();
    private final Object[] locks = new Object[LOCKS];

    /// A device for kubelet.
    public record Device(String request, String pool, String device, List<String> cdiIds) {}

    /// @param driver   name of this driver in the cluster
    /// @param state    folder of this program alone
    /// @param cdiFiles folder of the container runtime
    public NodeClaims(String driver, Cluster cluster, NodeAgent agent, Path state, Path cdiFiles, ContainerEdits edits) {
        this.driver = driver;
        this.cluster = cluster;
        this.agent = agent;
        for (int at = 0; at < LOCKS; at++) {
            locks[at] = new Object();
        }
        try {
            folder = DurableFolder.make(state);
            cdi = new CdiFiles(cdiFiles, edits);
            for (Map.Entry<String, byte[]> file : folder.read("", SUFFIX).entrySet()) {
                prepared.put(file.getKey(), PreparedClaim.parse(file.getValue()));
            }
        } catch (IOException e) {
            throw new SluiceException("cannot use " + state + " and " + cdiFiles + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    private Object lock(String uid) {
        return locks[Math.floorMod(uid.hashCode(), LOCKS)];
    }

    /// Makes a claim ready for containers; again gives the same answer.
    public List<Device> prepare(String namespace, String name, String uid) {
        NodeClaim.checkId(uid);
        synchronized (lock(uid)) {
            PreparedClaim claim = prepared.get(uid);
            if (claim == null) {
                claim = allocate(namespace, name, uid);
                keep(claim);
            } else if (!claim.claim().namespace().equals(namespace) || !claim.claim().claim().equals(name)) {
                throw new SluiceException("claim " + uid + " is " + claim.claim().namespace() + "/" + claim.claim().claim() + " and not " + namespace + "/" + name);
            }
            agent.declare(claim.token(), claim.claim());
            cdi.write(claim, minors());
            return claim.devices().stream().map(device -> new Device(device.request(), device.pool(), device.device(), cdi.ids(device))).toList();
        }
    }

    /// Takes back what a claim had; one that is not known has nothing.
    public void unprepare(String uid) {
        NodeClaim.checkId(uid);
        synchronized (lock(uid)) {
            if (prepared.containsKey(uid)) {
                agent.withdraw(uid);
                cdi.delete(uid);
                forget(uid);
            }
        }
    }

    /// Brings agent and runtime to what is on disk, after a restart of either or of this program.
    public void reconcile() {
        Set<String> known = Set.copyOf(prepared.keySet());
        Map<String, Integer> minors = minors();
        for (String uid : known) {
            synchronized (lock(uid)) {
                PreparedClaim claim = prepared.get(uid);
                if (claim != null) {
                    agent.declare(claim.token(), claim.claim());
                    cdi.write(claim, minors);
                }
            }
        }
        for (String uid : agent.declared()) {
            synchronized (lock(uid)) {
                if (!prepared.containsKey(uid)) {
                    agent.withdraw(uid);
                }
            }
        }
        cdi.retain(prepared.keySet());
    }

    private PreparedClaim allocate(String namespace, String name, String uid) {
        JsonTree object = cluster.get("/apis/resource.k8s.io/v1/namespaces/" + checked(namespace) + "/resourceclaims/" + checked(name));
        AllocatedClaim allocated = AllocatedClaim.parse(object, driver);
        if (!allocated.uid().equals(uid)) {
            throw new SluiceException("the claim " + namespace + "/" + name + " is now " + allocated.uid() + ", and " + uid + " is gone");
        }
        String generation = HexFormat.of().formatHex(bytes(GENERATION_BYTES));
        List<PreparedDevice> devices = new ArrayList<>();
        for (AllocatedClaim.Share share : allocated.shares()) {
            String uuid = agent.gpu(share.device()).map(NodeGpu::uuid).orElseThrow(() -> new SluiceException("the node has no GPU " + share.device() + " any more"));
            devices.add(new PreparedDevice(share.request(), share.pool(), share.device(), uuid, uid + "-" + generation + "-" + share.device()));
        }
        NodeClaim claim = new NodeClaim(uid, devices.stream().map(PreparedDevice::uuid).distinct().toList(), allocated.tenantLimits(), namespace, name, allocated.pod(), "");
        return new PreparedClaim(claim, Base64.getUrlEncoder().withoutPadding().encodeToString(bytes(TOKEN_BYTES)), generation, devices);
    }

    /// A part of a path of the API server's.
    private static String checked(String name) {
        if (!name.matches("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")) {
            throw new SluiceException("'" + name + "' is no name of Kubernetes");
        }
        return name;
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

    private void keep(PreparedClaim claim) {
        try {
            folder.write(claim.claim().id() + SUFFIX, claim.json());
        } catch (IOException e) {
            throw new SluiceException("cannot write down the claim in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
        prepared.put(claim.claim().id(), claim);
    }

    private void forget(String uid) {
        try {
            folder.delete(uid + SUFFIX);
        } catch (IOException e) {
            throw new SluiceException("cannot forget the claim in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
        prepared.remove(uid);
    }
}
