package sluice.kubernetes.claims;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.Paths;
import sluice.region.place.SluiceException;

/// Which containers use a claim, as the API server has its pods.
public final class ClaimPods {
    /// A claim that many pods share is looked for in the first of them only.
    private static final int MOST_PODS = 16;

    private final Cluster cluster;

    public ClaimPods(Cluster cluster) {
        this.cluster = cluster;
    }

    /// @param pod       the first that uses the claim; empty if none is named
    /// @param container empty if several containers of the pod use it
    public record User(String pod, String container) {}

    /// The pods that a claim is reserved for, as objects of the API.
    public List<JsonTree> pods(JsonTree claim, String namespace) {
        List<JsonTree> pods = new ArrayList<>();
        for (JsonTree user : reserved(claim).stream().limit(MOST_PODS).toList()) {
            try {
                JsonTree pod = cluster.get(Paths.pod(namespace, user.at("name").text()));
                if (user.at("uid").text().equals(pod.at("metadata").at("uid").value())) {
                    pods.add(pod);
                }
            } catch (ClusterException e) {
                if (!e.isNotFound()) {
                    throw e;
                }
            }
        }
        return pods;
    }

    /// Whether the claim was made for one pod, by a template or for an extended resource, and ends with it.
    static boolean isOfPod(JsonTree claim) {
        return elements(claim.at("metadata"), "ownerReferences").stream().anyMatch(owner -> "Pod".equals(owner.at("kind").value()));
    }

    /// The names of the pods that a claim is reserved for.
    static List<String> names(JsonTree claim) {
        return reserved(claim).stream().map(user -> user.at("name").text()).toList();
    }

    private static List<JsonTree> reserved(JsonTree claim) {
        return elements(claim.at("status"), "reservedFor").stream().filter(user -> "pods".equals(user.at("resource").value())).toList();
    }

    /// Fails if a container has a second claim of this driver: of an environment variable that both set, the runtime keeps one.
    ///
    /// @param isOurs whether a claim of the namespace has devices of this driver
    User user(JsonTree claim, String namespace, Predicate<String> isOurs) {
        String name = claim.at("metadata").at("name").text();
        List<JsonTree> pods = pods(claim, namespace);
        for (JsonTree pod : pods) {
            containers(pod).forEach((container, claims) -> {
                if (claims.contains(name)) {
                    claims.stream().filter(other -> !other.equals(name) && isOurs.test(other)).findFirst().ifPresent(other -> {
                        throw new SluiceException("container '" + container + "' of pod " + pod.at("metadata").at("name").text() + " has two claims of Sluice, " + other + " and " + name
                                + ", and the limits of one would hold for both; ask for all GPUs of a container in one claim");
                    });
                }
            });
        }
        List<String> users = pods.stream().limit(1).flatMap(pod -> containers(pod).entrySet().stream()).filter(entry -> entry.getValue().contains(name)).map(Map.Entry::getKey).toList();
        return new User(reserved(claim).stream().map(user -> user.at("name").text()).findFirst().orElse(""), users.size() == 1 ? users.getFirst() : "");
    }

    /// The claims of each container, by the names of the ResourceClaims.
    static Map<String, TreeSet<String>> containers(JsonTree pod) {
        Map<String, String> claims = new HashMap<>();
        elements(pod.at("spec"), "resourceClaims").stream().filter(claim -> claim.has("resourceClaimName"))
                .forEach(claim -> claims.put(claim.at("name").text(), claim.at("resourceClaimName").text()));
        elements(pod.at("status"), "resourceClaimStatuses").stream().filter(claim -> claim.has("resourceClaimName"))
                .forEach(claim -> claims.put(claim.at("name").text(), claim.at("resourceClaimName").text()));
        Map<String, TreeSet<String>> containers = new LinkedHashMap<>();
        Stream.of("initContainers", "containers").flatMap(kind -> elements(pod.at("spec"), kind).stream()).forEach(container ->
                elements(container.at("resources"), "claims").stream().map(claim -> claims.get(claim.at("name").text())).filter(name -> name != null)
                        .forEach(name -> containers.computeIfAbsent(container.at("name").text(), none -> new TreeSet<>()).add(name)));
        JsonTree extended = pod.at("status").at("extendedResourceClaimStatus");
        elements(extended, "requestMappings").forEach(mapping ->
                containers.computeIfAbsent(mapping.at("containerName").text(), none -> new TreeSet<>()).add(extended.at("resourceClaimName").text()));
        return containers;
    }

    private static List<JsonTree> elements(JsonTree json, String name) {
        return json.has(name) ? json.at(name).elements() : List.of();
    }
}
