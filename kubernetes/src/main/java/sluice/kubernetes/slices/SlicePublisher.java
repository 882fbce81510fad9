package sluice.kubernetes.slices;

import java.util.List;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.Paths;
import sluice.kubernetes.node.GpuWatch;
import sluice.kubernetes.node.NodeGpu;

/// Keeps the node's ResourceSlice at the API server. Kubelet deletes it half a minute after it lost this program, so it is looked for again and again.
public final class SlicePublisher {
    private final String driver;
    private final String node;
    private final Cluster cluster;
    private final GpuWatch gpus;
    private final SliceDefaults defaults;
    private long generation;
    private volatile List<NodeGpu> published = List.of();

    public SlicePublisher(String driver, String node, Cluster cluster, GpuWatch gpus, SliceDefaults defaults) {
        this.driver = driver;
        this.node = node;
        this.cluster = cluster;
        this.gpus = gpus;
        this.defaults = defaults;
    }

    /// @return whether anything had to be changed
    public synchronized boolean publish() {
        List<NodeGpu> now = gpus.look();
        boolean changed = publish(now);
        published = now;
        return changed;
    }

    /// As it was published last.
    public List<NodeGpu> published() {
        return published;
    }

    private boolean publish(List<NodeGpu> now) {
        String nodeUid = cluster.get(Paths.node(node)).at("metadata").at("uid").text();
        SliceOfNode wanted = new SliceOfNode(driver, node, nodeUid, now, defaults);
        JsonTree there;
        try {
            there = cluster.get(Paths.slice(wanted.name()));
        } catch (ClusterException e) {
            if (!e.isNotFound()) {
                throw e;
            }
            cluster.create(Paths.SLICES, wanted.json(++generation, ""));
            return true;
        }
        generation = Math.max(generation, there.at("spec").at("pool").at("generation").number());
        if (wanted.digest().equals(there.at("metadata").at("annotations").at(SliceOfNode.DIGEST).value())) {
            return false;
        }
        cluster.replace(Paths.slice(wanted.name()), wanted.json(++generation, there.at("metadata").at("resourceVersion").text()));
        return true;
    }
}
