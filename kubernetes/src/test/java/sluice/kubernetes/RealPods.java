package sluice.kubernetes;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.ClusterException;

/// Pods of the default namespace, each with one container of the test image.
final class RealPods {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
    static final String CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

    private final RealNode node;

    RealPods(RealNode node) {
        this.node = node;
    }

    void template(String name, String memory, String compute) {
        node.cluster.create(TEMPLATES, Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaimTemplate", "metadata", Map.of("name", name), "spec", Map.of("spec",
                Map.of("devices", Map.of("requests", List.of(Map.of("name", "gpu", "exactly", Map.of("deviceClassName", "sluice-gpu", "capacity", Map.of("requests",
                        Map.of("memory", memory, "compute", compute))))))))));
    }

    /// @param template of its claim; empty: none
    void create(String name, String template, String script) {
        Map<String, Object> resources = template.isEmpty() ? Map.of() : Map.of("claims", List.of(Map.of("name", "gpu")));
        create(name, template.isEmpty() ? Map.of() : Map.of("resourceClaims", List.of(Map.of("name", "gpu", "resourceClaimTemplateName", template))), resources, script);
    }

    /// One that asks for a GPU as older pods do.
    void createWithExtendedResource(String name, String script) {
        create(name, Map.of(), Map.of("limits", Map.of("sluice.dev/gpu", "1")), script);
    }

    private void create(String name, Map<String, Object> more, Map<String, Object> resources, String script) {
        Map<String, Object> spec = new HashMap<>(Map.of("restartPolicy", "Never", "terminationGracePeriodSeconds", 0, "enableServiceLinks", false, "automountServiceAccountToken", false,
                "containers", List.of(Map.of("name", "main", "image", "localhost/sluice-test:1", "imagePullPolicy", "Never", "command", List.of("/bin/sh", "-c", script), "resources", resources))));
        spec.putAll(more);
        node.cluster.create(PODS, Map.of("apiVersion", "v1", "kind", "Pod", "metadata", Map.of("name", name, "labels", Map.of("made", "test")), "spec", spec));
    }

    JsonTree get(String name) {
        return node.cluster.get(PODS + "/" + name);
    }

    String phase(String name) {
        try {
            return get(name).at("status").at("phase").text();
        } catch (ClusterException e) {
            if (e.isNotFound()) {
                return "gone";
            }
            throw e;
        }
    }

    void awaitPhase(String name, String phase) throws InterruptedException {
        RealServer.await(() -> phase(name).equals(phase));
    }

    /// What its container wrote, as containerd keeps it on the node.
    String log(String name) throws Exception {
        String pod = "default_" + name + "_" + get(name).at("metadata").at("uid").text();
        Path file = node.folder.resolve("node/logs/pods").resolve(pod).resolve("main/0.log");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    void awaitLog(String name, String text) throws InterruptedException {
        RealServer.await(() -> {
            try {
                return log(name).contains(text);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    void delete(String name) {
        try {
            node.cluster.delete(PODS + "/" + name);
        } catch (ClusterException e) {
            if (!e.isNotFound()) {
                throw e;
            }
        }
    }

    List<JsonTree> pods() {
        return node.cluster.get(PODS).at("items").elements();
    }

    List<JsonTree> claims() {
        return node.cluster.get(CLAIMS).at("items").elements();
    }

    /// Files of claims that this node still has, of runtime and node program.
    List<String> filesOfClaims() throws Exception {
        try (Stream<Path> cdi = Files.list(node.folder.resolve("node/cdi")); Stream<Path> state = Files.list(node.folder.resolve("driver"))) {
            return Stream.concat(cdi, state).map(Path::toString).filter(file -> file.endsWith(".json")).toList();
        }
    }
}
