package sluice.kubernetes.reports;

import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.claims.PreparedClaim;
import sluice.kubernetes.claims.PreparedClaim.PreparedDevice;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.Paths;
import sluice.kubernetes.node.NodeGpu;

/// Tells in the status of each prepared claim that its devices are ready, and which limits hold. Kubelet does not wait for it.
public final class ClaimReports {
    private static final int TEXT_LENGTH = 1000;

    private final String driver;
    private final Cluster cluster;
    private final NodeClaims claims;
    /// What was said of each claim, by its id.
    private final Map<String, Map<String, Object>> told = new HashMap<>();
    private final Map<String, String> illSince = new HashMap<>();

    public ClaimReports(String driver, Cluster cluster, NodeClaims claims) {
        this.driver = driver;
        this.cluster = cluster;
        this.claims = claims;
    }

    /// Tells what has not been told. One claim that cannot be told of does not hold up the others.
    public synchronized void tell(List<NodeGpu> gpus) {
        Map<String, List<String>> unfit = gpus.stream().collect(Collectors.toMap(NodeGpu::uuid, NodeGpu::unfit, (first, second) -> first));
        List<PreparedClaim> prepared = claims.prepared();
        illSince.keySet().removeIf(key -> unfit.values().stream().allMatch(List::isEmpty));
        told.keySet().retainAll(prepared.stream().map(claim -> claim.claim().id()).toList());
        ClusterException failure = null;
        for (PreparedClaim claim : prepared) {
            Map<String, Object> status = status(claim, unfit);
            try {
                if (!status.equals(told.get(claim.claim().id()))) {
                    cluster.apply(Paths.claim(claim.claim().namespace(), claim.claim().claim()) + "/status", status);
                    told.put(claim.claim().id(), status);
                }
            } catch (ClusterException e) {
                if (e.isNotFound() || e.isConflict()) {
                    told.put(claim.claim().id(), status); // deleted, or another claim of the name
                } else {
                    failure = e;
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private Map<String, Object> status(PreparedClaim claim, Map<String, List<String>> unfit) {
        Map<String, Map<String, Object>> devices = new LinkedHashMap<>();
        claim.devices().forEach(device -> devices.put(device.device() + " " + device.share(), device(claim, device, unfit.getOrDefault(device.uuid(), List.of()))));
        return Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaim", "metadata",
                Map.of("name", claim.claim().claim(), "namespace", claim.claim().namespace(), "uid", claim.claim().id()), "status", Map.of("devices", List.copyOf(devices.values())));
    }

    private Map<String, Object> device(PreparedClaim claim, PreparedDevice device, List<String> unfit) {
        String said = String.join("; ", unfit);
        Map<String, Object> condition = Map.of("type", "Ready", "status", unfit.isEmpty() ? "True" : "False", "reason", unfit.isEmpty() ? "Prepared" : "Unhealthy",
                "message", said.length() <= TEXT_LENGTH ? said : said.substring(0, TEXT_LENGTH),
                "lastTransitionTime", since(claim, unfit));
        Map<String, Object> limits = new LinkedHashMap<>();
        claim.claim().limits().forEach((limit, value) -> limits.put(limit.word(), value));
        Map<String, Object> status = new LinkedHashMap<>(Map.of("driver", driver, "pool", device.pool(), "device", device.device(), "conditions", List.of(condition),
                "data", Map.of("apiVersion", "sluice.dev/v1alpha1", "kind", "GpuLimits", "tenant", claim.claim().tenant(), "uuid", device.uuid(), "limits", limits)));
        if (!device.share().isEmpty()) {
            status.put("shareID", device.share());
        }
        return status;
    }

    /// A claim is ready from when it was prepared. Of an illness the time of the first report counts.
    private String since(PreparedClaim claim, List<String> unfit) {
        if (unfit.isEmpty()) {
            return Instant.ofEpochSecond(claim.atSeconds()).toString();
        }
        return illSince.computeIfAbsent(claim.claim().id() + unfit, same -> Instant.ofEpochSecond(Instant.now().getEpochSecond()).toString());
    }
}
