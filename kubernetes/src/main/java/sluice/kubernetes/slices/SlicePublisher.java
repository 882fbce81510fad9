package sluice.kubernetes.slices;

import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.node.NodeAgent;

/// Keeps the node's ResourceSlice at the API server. Kubelet deletes it half a minute after it lost this program, so it is looked for again and again.
public final class SlicePublisher {
    private static final String PATH = "/apis/resource.k8s.io/v1/resourceslices";

    private final String driver;
    private final String node;
    private final Cluster cluster;
    private final NodeAgent agent;
    private long generation;

    public SlicePublisher(String driver, String node, Cluster cluster, NodeAgent agent) {
        this.driver = driver;
        this.node = node;
        this.cluster = cluster;
        this.agent = agent;
    }

    /// @return whether anything had to be changed
    public synchronized boolean publish() {
        String nodeUid = cluster.get("/api/v1/nodes/" + node).at("metadata").at("uid").text();
        SliceOfNode wanted = new SliceOfNode(driver, node, nodeUid, agent.gpus());
        JsonTree there;
        try {
            there = cluster.get(PATH + "/" + wanted.name());
        } catch (ClusterException e) {
            if (!e.isNotFound()) {
                throw e;
            }
            cluster.create(PATH, wanted.json(++generation, ""));
            return true;
        }
        generation = Math.max(generation, there.at("spec").at("pool").at("generation").number());
        if (wanted.digest().equals(there.at("metadata").at("annotations").at(SliceOfNode.DIGEST).value())) {
            return false;
        }
        cluster.replace(PATH + "/" + wanted.name(), wanted.json(++generation, there.at("metadata").at("resourceVersion").text()));
        return true;
    }
}
