package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The manifests, as kustomize makes them.
class ManifestsTest {
    private static final Path DEPLOY = root().resolve("deploy/kubernetes");

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        return Files.exists(folder.resolve("deploy/kubernetes")) ? folder : folder.getParent();
    }

    private static List<Path> kustomizations() throws IOException {
        try (Stream<Path> files = Files.walk(DEPLOY)) {
            return files.filter(file -> file.endsWith("kustomization.yaml") && !file.toString().contains("/components/")).map(Path::getParent).sorted().toList();
        }
    }

    private static String made(Path folder) throws Exception {
        assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, "kubectl"))), "kubectl is not here");
        Process kubectl = new ProcessBuilder("kubectl", "kustomize", folder.toString()).redirectErrorStream(true).start();
        String said = new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(kubectl.waitFor()).as(said).isZero();
        return said;
    }

    @Test
    void shouldAllBeMade() throws Exception {
        assertThat(kustomizations()).hasSizeGreaterThanOrEqualTo(4);
        for (Path folder : kustomizations()) {
            assertThat(made(folder)).as(folder.toString()).contains("kind: DaemonSet").contains("name: sluice-node");
        }
    }

    @Test
    void shouldNameTheImageThatTheProjectMakes() throws Exception {
        Matcher image = Pattern.compile("<sluice.image>(.*)</sluice.image>").matcher(Files.readString(root().resolve("pom.xml")));
        assertThat(image.find()).isTrue();
        for (Path folder : kustomizations()) {
            assertThat(made(folder).lines().map(String::strip).filter(line -> line.startsWith("image:") || line.startsWith("- image:")).map(line -> line.substring(line.indexOf(':') + 2)))
                    .as(folder.toString()).isNotEmpty().containsOnly(image.group(1));
        }
    }

    /// Each word of `args` of the node program is an option that there is.
    @Test
    void shouldGiveTheNodeProgramOptionsThatItKnows() throws Exception {
        int seen = 0;
        for (String overlay : List.of("base", "overlays/simulated", "overlays/metrics")) {
            Matcher args = Pattern.compile("- args:\\n((?: +- .*\\n)+) +env:\\n +- name: NODE_NAME").matcher(made(DEPLOY.resolve(overlay)));
            assertThat(args.find()).as(overlay).isTrue();
            List<String> words = args.group(1).lines().map(line -> line.strip().substring(2).replace("\"", "")).toList();
            List<String> all = new ArrayList<>(words);
            all.addAll(List.of("--node", "node-1"));
            assertThat(NodeSettings.parse(all, Map.of("POD_UID", "")).node()).isEqualTo("node-1");
            seen += words.size();
        }
        assertThat(seen).isGreaterThan(6);
    }

    /// Nothing is privileged, every root file system is read-only, and only what is named here may be written in the cluster.
    @Test
    void shouldAskForLittle() throws Exception {
        for (Path folder : kustomizations()) {
            String manifests = made(folder);
            assertThat(manifests).as(folder.toString()).doesNotContain("privileged: true").doesNotContain("hostNetwork").doesNotContain("cluster-admin").doesNotContain("verbs:\n  - '*'");
            assertThat(count(manifests, "readOnlyRootFilesystem: true")).as(folder.toString()).isEqualTo(count(manifests, "allowPrivilegeEscalation: false"))
                    .isEqualTo(count(manifests, "        image: "));
            assertThat(manifests).doesNotContain("- secrets").doesNotContain("- deletecollection");
        }
    }

    private static String only(String manifests, String... texts) {
        return Stream.of(manifests.split("\n---\n")).filter(document -> Stream.of(texts).allMatch(document::contains)).findFirst().orElseThrow();
    }

    /// Control planes and nodes without a GPU have no agent; a node program there would never be ready.
    @Test
    void shouldRunOnlyOnNodesThatAreMeantForIt() throws Exception {
        for (Path folder : kustomizations()) {
            String simulated = folder.endsWith("simulated") ? "" : "      nodeSelector:\n        sluice.dev/gpus: \"on\"\n";
            assertThat(only(made(folder), "kind: DaemonSet", "name: sluice-node").contains("nodeSelector:")).as(folder.toString()).isEqualTo(!simulated.isEmpty());
            assertThat(made(folder)).contains(simulated).doesNotContain("path: /run/sluice\n          type: Directory\n");
        }
        assertThat(only(made(DEPLOY.resolve("overlays/simulated")), "kind: DaemonSet", "name: sluice-agent")).doesNotContain("nodeSelector");
    }

    @Test
    void shouldBringTheDistributionToTheNode() throws Exception {
        for (Path folder : kustomizations()) {
            assertThat(made(folder)).as(folder.toString()).containsOnlyOnce("      initContainers:\n      - args:\n        - install\n        - /opt/sluice\n        - /host/opt/sluice\n");
        }
    }

    @Test
    void shouldHaveAnExampleThatRunsAsItIs(@TempDir Path folder) throws Exception {
        Files.copy(DEPLOY.resolve("examples/simulated.yaml"), folder.resolve("simulated.yaml"));
        Files.writeString(folder.resolve("kustomization.yaml"), "resources: [simulated.yaml]\n");
        String example = made(folder);

        assertThat(count(example, "kind: Pod\n")).isEqualTo(2);
        assertThat(count(example, "runAsUser: 0")).isEqualTo(2);
        Matcher image = Pattern.compile("<sluice.image>(.*)</sluice.image>").matcher(Files.readString(root().resolve("pom.xml")));
        assertThat(image.find()).isTrue();
        assertThat(count(example, "image: " + image.group(1))).isEqualTo(2);
        assertThat(Files.readString(root().resolve("dist/assemble"))).contains(" hog ");
    }

    @Test
    void shouldProbeThePortThatItOpens() throws Exception {
        for (Path folder : kustomizations()) {
            assertThat(only(made(folder), "kind: DaemonSet", "name: sluice-node")).as(folder.toString()).containsSubsequence("--health-port", "\"9412\"", "path: /live", "port: health",
                    "containerPort: 9412\n          name: health\n", "path: /ready", "port: health");
        }
        assertThat(only(made(DEPLOY.resolve("overlays/metrics")), "kind: DaemonSet")).contains("containerPort: 9412").contains("containerPort: 9411");
    }

    @Test
    void shouldScrapeThePortThatTheOverlayOpens() throws Exception {
        assertThat(only(made(DEPLOY.resolve("overlays/metrics")), "kind: DaemonSet")).contains("          name: metrics\n").contains("app: sluice-node");
        for (String scrape : List.of("scrape-kubernetes.yaml", "pod-monitor.yaml")) {
            assertThat(Files.readString(root().resolve("deploy/prometheus").resolve(scrape))).as(scrape).contains("metrics").contains("sluice-node").contains("https").contains("sluice-system");
        }
    }

    /// Kustomize moves the account to another namespace, but changes no text of an expression.
    @Test
    void shouldBindTheAccountOfAnOverlayWithAnotherNamespace(@TempDir Path folder) throws Exception {
        Path overlay = Files.createDirectories(folder.resolve("overlay"));
        Files.writeString(overlay.resolve("kustomization.yaml"), "namespace: gpu-team\nnamePrefix: our-\nnameSuffix: -two\nresources:\n  - " + overlay.toRealPath().relativize(DEPLOY.toRealPath().resolve("base")) + "\n");
        for (Path each : List.of(DEPLOY.resolve("base"), overlay)) {
            String manifests = made(each);
            Matcher account = Pattern.compile("subjects:\n- kind: ServiceAccount\n  name: (\\S+)\n  namespace: (\\S+)\n").matcher(manifests);
            Matcher condition = Pattern.compile("username\\.matches\\(''?(.*?)''?\\)").matcher(manifests);
            assertThat(account.find() && condition.find()).as(manifests).isTrue();
            assertThat("system:serviceaccount:" + account.group(2) + ":" + account.group(1)).matches(condition.group(1));
            assertThat("system:serviceaccount:kube-system:generic-node").doesNotMatch(condition.group(1));
        }
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }

    /// The account may do what the program does, and its own node alone is bound by the policy.
    @Test
    void shouldLetTheAccountDoWhatTheProgramDoes() throws Exception {
        String base = made(DEPLOY.resolve("base"));

        for (String part : List.of("- resourceclaims/status\n  verbs:\n  - patch", "- gpu.sluice.dev\n  resources:\n  - resourceclaims/driver\n  verbs:\n  - associated-node:patch",
                "- pods\n  verbs:\n  - get\n", "- events\n  verbs:\n  - create", "kind: ValidatingAdmissionPolicyBinding", "maxSurge: 1", "fieldPath: metadata.uid")) {
            assertThat(base).contains(part);
        }
    }
}
