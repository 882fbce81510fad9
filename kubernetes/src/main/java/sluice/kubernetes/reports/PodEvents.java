package sluice.kubernetes.reports;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import sluice.api.json.JsonTree;
import sluice.api.model.AuditFinding;
import sluice.kubernetes.claims.ClaimPods;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.claims.PreparedClaim;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.Paths;
import sluice.kubernetes.node.NodeAgent;

/// Events on pods with a claim: a program in them uses a GPU, and the library is not in it.
public final class PodEvents {
    static final String REASON = "GpuLimitsNotEnforced";
    /// An API server forgets an event after an hour.
    private static final Duration AGAIN = Duration.ofHours(1);
    private static final Duration FIRST_WAIT = Duration.ofSeconds(4);
    private static final DateTimeFormatter MICROS = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
    private static final int COMMAND_LENGTH = 100;
    private static final int NAME_LENGTH = 200;

    private final String driver;
    private final String node;
    private final Cluster cluster;
    private final NodeAgent agent;
    private final NodeClaims claims;
    private final ClaimPods pods;
    private final Map<String, Next> next = new HashMap<>();

    /// When to look for the pod of a process next. Kubelet tells of a container some seconds after it began, and most processes without a ledger are in no pod of ours.
    private record Next(Instant at, Duration pause) {}

    private record InPod(JsonTree pod, String container) {}

    public PodEvents(String driver, String node, Cluster cluster, NodeAgent agent, NodeClaims claims) {
        this.driver = driver;
        this.node = node;
        this.cluster = cluster;
        this.agent = agent;
        this.claims = claims;
        pods = new ClaimPods(cluster);
    }

    /// Tells of what is new. A process that goes on is told of again after an hour.
    public synchronized void tell() {
        List<AuditFinding> unknown = agent.findings().stream().filter(finding -> finding.kind().equals(AuditFinding.UNKNOWN) && !finding.container().isEmpty()).toList();
        next.keySet().retainAll(unknown.stream().map(PodEvents::key).toList());
        Instant now = Instant.now();
        ClusterException failure = null;
        for (AuditFinding finding : unknown) {
            Next due = next.getOrDefault(key(finding), new Next(now, FIRST_WAIT));
            if (!now.isBefore(due.at())) {
                boolean told = false;
                try {
                    Optional<InPod> place = find(finding.container());
                    place.ifPresent(found -> create(finding, found, now));
                    told = place.isPresent();
                } catch (ClusterException e) {
                    failure = e;
                }
                Duration pause = told || due.pause().compareTo(AGAIN) > 0 ? AGAIN : due.pause();
                next.put(key(finding), new Next(now.plus(pause), pause.multipliedBy(2)));
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static String key(AuditFinding finding) {
        return finding.container() + " " + finding.pid() + " " + finding.gpuUuid();
    }

    /// The pod with a claim of this node that a container is of.
    private Optional<InPod> find(String id) {
        for (PreparedClaim claim : claims.prepared()) {
            String namespace = claim.claim().namespace();
            for (JsonTree pod : pods(namespace, claim.claim().claim())) {
                Optional<InPod> found = Stream.of("containerStatuses", "initContainerStatuses").filter(pod.at("status")::has)
                        .flatMap(kind -> pod.at("status").at(kind).elements().stream()).filter(status -> status.has("containerID") && status.at("containerID").text().endsWith("//" + id))
                        .map(status -> new InPod(pod, status.at("name").text())).findFirst();
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /// None of a claim that is being deleted.
    private List<JsonTree> pods(String namespace, String claim) {
        try {
            return pods.pods(cluster.get(Paths.claim(namespace, claim)), namespace);
        } catch (ClusterException e) {
            if (e.isNotFound()) {
                return List.of();
            }
            throw e;
        }
    }

    private void create(AuditFinding finding, InPod place, Instant now) {
        JsonTree metadata = place.pod().at("metadata");
        String namespace = metadata.at("namespace").text();
        String pod = metadata.at("name").text();
        String command = finding.command().replaceAll("\\p{Cntrl}", "?");
        String note = "pid " + finding.pid() + " (" + (command.length() <= COMMAND_LENGTH ? command : command.substring(0, COMMAND_LENGTH) + "…") + ") in container " + place.container()
                + " uses " + finding.gpuUuid() + " without the limits of its claim: it has not loaded libsluice.so. Programs that are static or made for musl cannot be limited;"
                + " use an image with glibc, and keep LD_PRELOAD";
        String name = pod.substring(0, Math.min(NAME_LENGTH, pod.length())) + ".sluice-" + Integer.toHexString(key(finding).hashCode());
        try {
            cluster.create(Paths.events(namespace), Map.ofEntries(Map.entry("apiVersion", "events.k8s.io/v1"), Map.entry("kind", "Event"),
                    Map.entry("metadata", Map.of("name", name, "namespace", namespace)), Map.entry("eventTime", MICROS.format(now)),
                    Map.entry("reportingController", driver), Map.entry("reportingInstance", node), Map.entry("action", "Audit"), Map.entry("reason", REASON),
                    Map.entry("regarding", Map.of("apiVersion", "v1", "kind", "Pod", "namespace", namespace, "name", pod, "uid", metadata.at("uid").text(),
                            "fieldPath", "spec.containers{" + place.container() + "}")),
                    Map.entry("note", note), Map.entry("type", "Warning")));
        } catch (ClusterException e) {
            if (!e.isConflict()) {
                throw e; // else it is there, from before a restart of this program
            }
        }
    }
}
