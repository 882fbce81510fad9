package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The overlays for older clusters and older tools, as kustomize builds them.
@Timeout(120)
class OlderToolsManifestsTest {
    private static final Path OVERLAYS = Path.of("../deploy/kubernetes/overlays");

    private static String build(String overlay) throws IOException, InterruptedException {
        return buildFolder(OVERLAYS.resolve(overlay));
    }

    private static String buildFolder(Path folder) throws IOException, InterruptedException {
        Path kubectl = Stream.of(System.getenv("PATH").split(":")).map(each -> Path.of(each, "kubectl")).filter(Files::isExecutable).findFirst().orElse(null);
        assumeTrue(kubectl != null, "there is no kubectl on the PATH; it builds the manifests");
        Process process = new ProcessBuilder(kubectl.toString(), "kustomize", folder.toString()).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }

    private static List<String> kinds(String manifests) {
        return manifests.lines().filter(line -> line.startsWith("kind: ")).map(line -> line.substring(6)).toList();
    }

    /// The document that has all of these texts.
    private static String part(String manifests, String... texts) {
        return Stream.of(manifests.split("\n---\n")).filter(document -> Stream.of(texts).allMatch(document::contains)).findFirst().orElseThrow();
    }

    @Test
    void shouldGiveTheWebhookNoMoreThanItNeeds() throws Exception {
        String all = build("older-tools");
        assertThat(part(all, "kind: ClusterRole\n", "name: sluice-webhook").lines().map(String::strip).filter(line -> line.startsWith("- ")))
                .containsExactly("- apiGroups:", "- resource.k8s.io", "- resourceclaimtemplates", "- create", "- apiGroups:", "- resource.k8s.io", "- resourceslices", "- list",
                        "- apiGroups:", "- admissionregistration.k8s.io", "- sluice-older-tools", "- mutatingwebhookconfigurations", "- get", "- update");
        assertThat(part(all, "kind: Deployment", "name: sluice-webhook")).contains("runAsNonRoot: true").contains("readOnlyRootFilesystem: true").doesNotContain("hostPath");
    }

    @Test
    void shouldShowTheWebhookOnlyPodsOfOlderTools() throws Exception {
        String configuration = part(build("older-tools"), "kind: MutatingWebhookConfiguration");
        String labelled = configuration.substring(configuration.indexOf("- admissionReviewVersions"), configuration.lastIndexOf("- admissionReviewVersions"));
        String named = configuration.substring(configuration.lastIndexOf("- admissionReviewVersions"));

        assertThat(labelled).contains("name: labelled.older-tools.sluice.dev").contains("''nvidia.com/gpu''").contains("''nvidia.com/gpumem''");
        assertThat(named).contains("name: named.older-tools.sluice.dev").doesNotContain("''nvidia.com/gpu''").contains("''alnair/vgpu-memory''");
        for (String webhook : List.of(labelled, named)) {
            assertThat(webhook).contains("failurePolicy: Fail").contains("sideEffects: NoneOnDryRun").contains("- kube-system").contains("- sluice-system");
        }
        assertThat(configuration).as("the webhook writes both, and an apply must leave them alone").doesNotContain("caBundle").doesNotContain("path:");
    }

    /// The role lets the program patch all nodes and pods; the policies leave it the annotations of its own.
    @Test
    void shouldLeaveAlnairsAnnotationsToTheNodeThatTheyAreOf() throws Exception {
        String all = build("device-plugin-alnair");
        for (String resource : List.of("nodes", "pods")) {
            String policy = part(all, "kind: ValidatingAdmissionPolicy\n", "      - " + resource + "\n");
            assertThat(policy).contains("failurePolicy: Fail").contains("authentication.kubernetes.io/node-name").contains("ai.centaurus.io/").contains("object.spec == oldObject.spec");
            String name = policy.replaceAll("(?s).*metadata:\n  name: (\\S+)\n.*", "$1");
            assertThat(part(all, "kind: ValidatingAdmissionPolicyBinding", "policyName: " + name)).contains("- Deny");
        }
    }

    @Test
    void shouldGiveAnAgentInAPodTheFoldersOfAlnair(@TempDir Path folder) throws Exception {
        Path overlay = Files.createDirectories(folder.resolve("overlay"));
        Path from = overlay.toRealPath();
        Path components = OVERLAYS.resolve("../components").toRealPath();
        Files.writeString(overlay.resolve("kustomization.yaml"), "resources:\n  - " + from.relativize(OVERLAYS.toRealPath().resolve("device-plugin-alnair")) + "\ncomponents:\n  - "
                + from.relativize(components.resolve("agent")) + "\n  - " + from.relativize(components.resolve("agent-alnair")) + "\n");
        String all = buildFolder(overlay);

        assertThat(part(all, "kind: ConfigMap", "agent.conf")).contains("alnair-socket = /run/alnair/alnair.sock").contains("all-users = yes");
        assertThat(part(all, "kind: DaemonSet", "name: sluice-agent")).contains("mountPath: /run/alnair\n").contains("mountPath: /var/lib/alnair\n");
        assertThat(Files.readString(OVERLAYS.resolve("../../systemd/alnair.conf"))).contains("RuntimeDirectory=alnair").contains("ReadWritePaths=/var/lib/alnair");
    }

    @Test
    void shouldNameNothingThatAnOlderClusterDoesNotHave() throws Exception {
        assertThat(kinds(build("device-plugin"))).containsExactlyInAnyOrder("Namespace", "ServiceAccount", "DaemonSet");
        String plugin = part(build("device-plugin-alnair"), "kind: DaemonSet");
        assertThat(plugin).containsSubsequence("--device-plugin", "--alnair").contains("/var/lib/kubelet/device-plugins").contains("/var/lib/kubelet/pod-resources").contains("/var/lib/alnair")
                .doesNotContain("/var/lib/kubelet/plugins");
    }
}
