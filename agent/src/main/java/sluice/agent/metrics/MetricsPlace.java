package sluice.agent.metrics;

import java.util.List;
import java.util.Optional;
import sluice.api.model.NodeClaim;

/// Where a tenant runs in a cluster; empty words for a tenant outside of a cluster.
record MetricsPlace(String namespace, String pod, String container, String claim) {
    static final List<String> LABELS = List.of("namespace", "pod", "container", "claim");

    static MetricsPlace of(Optional<NodeClaim> claim) {
        return claim.map(known -> new MetricsPlace(known.namespace(), known.pod(), known.container(), known.claim())).orElse(new MetricsPlace("", "", "", ""));
    }
}
