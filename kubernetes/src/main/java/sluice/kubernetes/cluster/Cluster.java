package sluice.kubernetes.cluster;

import java.util.Map;
import sluice.api.json.JsonTree;

/// The requests that a node makes of the API server. A refused one is a [ClusterException].
public interface Cluster {
    JsonTree get(String path);

    void create(String path, Map<String, Object> object);

    void replace(String path, Map<String, Object> object);

    /// Makes the fields of the object be as here, and leaves those of other writers alone. What this program wrote before and does not now goes.
    void apply(String path, Map<String, Object> object);

    void delete(String path);
}
