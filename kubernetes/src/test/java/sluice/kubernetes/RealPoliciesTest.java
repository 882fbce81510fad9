package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a real API server lets the node program's account do, and what not, when somebody else has its token.
@Timeout(600)
class RealPoliciesTest {
    private static final String OWN_NODE = "only of its own node";
    private static final String OWN_PODS = "only of pods on its own node";
    private static final String ONLY_ANNOTATIONS = "only annotations that begin with ai.centaurus.io/";
    private static final String OWN_SLICES = "only the slices of its own node";
    private static final String OWNER = "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\",\"uid\":\"%s\"}]";

    @TempDir
    private static Path folder;

    private static RealServer server;
    /// The node program's account with the token of a pod on `node-1`.
    private static Path account;
    /// The same account with a token that is bound to nothing.
    private static Path unbound;

    @BeforeAll
    static void start() throws Exception {
        String missing = RealServer.missing("etcd", "kube-apiserver", "kubectl");
        assumeTrue(missing.isEmpty(), missing);
        server = new RealServer(folder, "server");
        for (String node : List.of("node-1", "node-2")) {
            server.cluster.create("/api/v1/nodes", Map.of("apiVersion", "v1", "kind", "Node", "metadata", Map.of("name", node, "annotations", Map.of("team", "a"), "labels", Map.of("rack", "1"))));
        }
        namespace("team", "");
        namespace("older", "sluice.dev/older-tools=on");
        namespace("untouched", "sluice.dev/older-tools=off");
        for (String namespace : List.of("default", "kube-system")) {
            server.cluster.create("/api/v1/namespaces/" + namespace + "/serviceaccounts", Map.of("apiVersion", "v1", "kind", "ServiceAccount", "metadata", Map.of("name", "default")));
        }
        pod("default", "own", "node-1");
        pod("team", "own", "node-1");
        pod("default", "other", "node-2");
        pod("default", "waiting", "");
        server.manifests();
        server.apply("overlays/device-plugin-alnair/annotations", "overlays/device-plugin-alnair/own-node", "overlays/older-tools/configuration");
        account = server.access("sluice-node", "--bound-object-kind", "Node", "--bound-object-name", "node-1", "--bound-object-uid",
                server.cluster.get("/api/v1/nodes/node-1").at("metadata").at("uid").text());
        unbound = server.access("sluice-node");
        // The server takes some seconds to begin with a policy.
        RealServer.await(() -> isRefused("node", "default", "node-2", note("x", "1")) && isRefused("pod", "default", "other", note("x", "1")) && isRefusedSlice());
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            server.stop();
        }
    }

    private static void pod(String namespace, String name, String node) throws Exception {
        Map<String, Object> container = Map.of("name", "main", "image", "none");
        Map<String, Object> spec = node.isEmpty() ? Map.of("containers", List.of(container)) : Map.of("containers", List.of(container), "nodeName", node);
        server.cluster.create("/api/v1/namespaces/" + namespace + "/pods", Map.of("apiVersion", "v1", "kind", "Pod", "metadata",
                Map.of("name", name, "annotations", Map.of("team", "a"), "labels", Map.of("app", "train")), "spec", spec));
    }

    /// The default namespace and others, so that their labels differ.
    private static void namespace(String name, String label) throws Exception {
        server.kubectl("create", "namespace", name);
        if (!label.isEmpty()) {
            server.kubectl("label", "namespace", name, label);
        }
        server.cluster.create("/api/v1/namespaces/" + name + "/serviceaccounts", Map.of("apiVersion", "v1", "kind", "ServiceAccount", "metadata", Map.of("name", "default")));
    }

    private static String note(String name, String value) {
        return "{\"metadata\":{\"annotations\":{\"ai.centaurus.io/" + name + "\":\"" + value + "\"}}}";
    }

    private static String metadata(String json) {
        return "{\"metadata\":{" + json + "}}";
    }

    private static String patch(Path access, String kind, String namespace, String name, String patch) throws Exception {
        return server.kubectl(access, "-n", namespace, "patch", kind, name, "--type", "merge", "--patch", patch);
    }

    private static boolean isRefused(String kind, String namespace, String name, String patch) {
        try {
            server.kubectl(account, "-n", namespace, "patch", kind, name, "--type", "merge", "--dry-run=server", "--patch", patch);
            return false;
        } catch (Exception e) {
            return true;
        }
    }

    private static boolean isRefusedSlice() {
        try {
            create(account, slice("probe", "node-2", "node-2", "gpu.sluice.dev"), "--dry-run=server");
            return false;
        } catch (Exception e) {
            return true;
        }
    }

    private static void mayNot(String kind, String namespace, String name, String patch, String why) {
        assertThatThrownBy(() -> patch(account, kind, namespace, name, patch)).as(kind + " " + name + " " + patch).hasMessageContaining(why);
    }

    /// @param where of the slice, such as `"nodeName": "node-1"`
    private static String slice(String name, String where, String pool, String driver) {
        String place = where.startsWith("{") ? where.substring(1, where.length() - 1) : "\"nodeName\":\"" + where + "\"";
        return "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"" + name + "\"},\"spec\":{\"driver\":\"" + driver + "\"," + place
                + ",\"pool\":{\"name\":\"" + pool + "\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[]}}";
    }

    private static String create(Path access, String object, String... more) throws Exception {
        Path file = Files.writeString(Files.createTempFile(folder, "object", ".json"), object);
        String[] arguments = new String[more.length + 3];
        System.arraycopy(new String[] {"create", "-f", file.toString()}, 0, arguments, 0, 3);
        System.arraycopy(more, 0, arguments, 3, more.length);
        return server.kubectl(access, arguments);
    }

    @Test
    void shouldLetTheProgramWriteAlnairsAnnotationsOfItsNodeAndPods() throws Exception {
        for (String[] each : new String[][] {{"node", "default", "node-1"}, {"pod", "default", "own"}, {"pod", "team", "own"}}) {
            assertThat(patch(account, each[0], each[1], each[2], note("alnair-id", "1"))).contains("patched");
            assertThat(patch(account, each[0], each[1], each[2], note("alnair-id", "2"))).contains("patched");
            assertThat(patch(account, each[0], each[1], each[2], "{\"metadata\":{\"annotations\":{\"ai.centaurus.io/alnair-id\":null}}}")).contains("patched");
        }
    }

    @Test
    void shouldLetTheProgramWriteNoAnnotationsElsewhere() {
        mayNot("node", "default", "node-2", note("x", "1"), OWN_NODE);
        mayNot("pod", "default", "other", note("x", "1"), OWN_PODS);
        mayNot("pod", "default", "waiting", note("x", "1"), OWN_PODS);
        assertThatThrownBy(() -> patch(unbound, "node", "default", "node-1", note("x", "1"))).hasMessageContaining(OWN_NODE);
        assertThatThrownBy(() -> patch(unbound, "pod", "default", "own", note("x", "1"))).hasMessageContaining(OWN_PODS);
        assertThatThrownBy(() -> patch(unbound, "pod", "default", "waiting", note("x", "1"))).hasMessageContaining(OWN_PODS);
    }

    @Test
    void shouldLetTheProgramChangeNothingElseOfItsNodeAndPods() throws Exception {
        for (String[] each : new String[][] {{"node", "default", "node-1"}, {"pod", "team", "own"}}) {
            for (String part : List.of("\"annotations\":{\"team\":\"b\"}", "\"annotations\":{\"team\":null}", "\"annotations\":null", "\"annotations\":{\"other\":\"1\"}",
                    "\"annotations\":{\"ai.centaurus.io.other/x\":\"1\"}", "\"labels\":{\"app\":\"b\"}", "\"labels\":{\"rack\":null,\"app\":null}", "\"labels\":null", "\"finalizers\":[\"other.dev/x\"]",
                    OWNER.formatted("a", "1"))) {
                mayNot(each[0], each[1], each[2], metadata(part), ONLY_ANNOTATIONS);
            }
        }
        mayNot("node", "default", "node-1", "{\"spec\":{\"unschedulable\":true}}", ONLY_ANNOTATIONS);
        mayNot("node", "default", "node-1", "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]}}", ONLY_ANNOTATIONS);
        mayNot("pod", "team", "own", "{\"spec\":{\"activeDeadlineSeconds\":1}}", ONLY_ANNOTATIONS);
        assertThatThrownBy(() -> server.kubectl(account, "-n", "team", "set", "image", "pod/own", "main=other")).hasMessageContaining(ONLY_ANNOTATIONS);
        for (String kind : List.of("node", "pod")) {
            String name = kind.equals("node") ? "node-1" : "own";
            assertThatThrownBy(() -> status(account, "v1", kind, "default", name, "{\"phase\":\"Failed\"}")).hasMessageContaining("forbidden").hasMessageContaining("/status");
        }
    }

    /// Who owns an object decides when it is deleted.
    @Test
    void shouldNotLetTheProgramReplaceAnOwner() throws Exception {
        pod("default", "owned", "node-1");
        server.kubectl("patch", "pod", "owned", "--type", "merge", "--patch", metadata(OWNER.formatted("a", "1")));

        assertThat(patch(account, "pod", "default", "owned", note("x", "1"))).contains("patched");
        mayNot("pod", "default", "owned", metadata(OWNER.formatted("b", "2")), ONLY_ANNOTATIONS);
        mayNot("pod", "default", "owned", metadata("\"ownerReferences\":null"), ONLY_ANNOTATIONS);
    }

    @Test
    void shouldLeaveOtherAccountsAlone() throws Exception {
        assertThat(server.kubectl("label", "node", "node-2", "a=b")).contains("labeled");
        assertThat(server.kubectl("annotate", "pod", "other", "a=b")).contains("annotated");
        assertThat(server.kubectl("create", "-f", Files.writeString(folder.resolve("other.json"), slice("other-driver", "node-1", "node-1", "other.example")).toString())).contains("created");
    }

    @Test
    void shouldLetTheProgramWriteOnlyItsOwnSlices() throws Exception {
        assertThat(create(account, slice("own", "node-1", "node-1", "gpu.sluice.dev"))).contains("created");
        assertThat(patchAsAdmin("own", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")).as("an administrator, or a migration of what is stored").contains("patched");
        assertThatThrownBy(() -> patchAsAdmin("own", "{\"spec\":{\"pool\":{\"generation\":9}}}")).as("anybody else").hasMessageContaining(OWN_SLICES);

        for (String hostile : List.of(slice("x", "node-2", "node-2", "gpu.sluice.dev"), slice("x", "node-1", "node-2", "gpu.sluice.dev"), slice("x", "node-1", "node-1", "other.example"),
                slice("x", "{\"allNodes\":true}", "node-1", "gpu.sluice.dev"), slice("x", "{\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                        + "\"values\":[\"node-2\"]}]}]}}", "node-1", "gpu.sluice.dev"))) {
            assertThatThrownBy(() -> create(account, hostile)).as(hostile).hasMessageContaining(OWN_SLICES);
        }
        assertThatThrownBy(() -> create(unbound, slice("x", "node-1", "node-1", "gpu.sluice.dev"))).hasMessageContaining(OWN_SLICES);
        assertThatThrownBy(() -> server.kubectl("create", "-f", Files.writeString(folder.resolve("x.json"), slice("x", "node-1", "node-1", "gpu.sluice.dev")).toString()))
                .as("anybody else").hasMessageContaining(OWN_SLICES);
        assertThatThrownBy(() -> server.kubectl(account, "delete", "resourceslice", "own")).hasMessageContaining("forbidden");
    }

    private static String patchAsAdmin(String slice, String patch) throws Exception {
        return server.kubectl("patch", "resourceslice", slice, "--type", "merge", "--patch", patch);
    }

    /// A claim of two requests that the scheduler gave to a node, and that has a device of another driver too.
    private static void claim(String name, String node) throws Exception {
        String request = "{\"name\":\"%s\",\"exactly\":{\"deviceClassName\":\"sluice-gpu\"}}";
        create(folder.resolve("node/pki/admin.conf"), "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"" + name + "\",\"namespace\":\"team\"},\"spec\":{\"devices\":"
                + "{\"requests\":[" + request.formatted("a") + "," + request.formatted("b") + "," + request.formatted("c") + "]}}}");
        String result = "{\"driver\":\"%s\",\"request\":\"%s\",\"pool\":\"" + node + "\",\"device\":\"%s\"}";
        server.kubectl("-n", "team", "patch", "resourceclaim", name, "--subresource", "status", "--type", "merge", "--patch", "{\"status\":{\"allocation\":{\"devices\":{\"results\":["
                + result.formatted("gpu.sluice.dev", "a", "gpu-0") + "," + result.formatted("gpu.sluice.dev", "b", "gpu-1") + "," + result.formatted("other.example", "c", "nic-0")
                + "]},\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"" + node + "\"]}]}]}}}}");
    }

    private static String devices(String driver, String pool, String... names) {
        return "{\"devices\":[" + String.join(",", List.of(names).stream().map(name -> "{\"driver\":\"" + driver + "\",\"pool\":\"" + pool + "\",\"device\":\"" + name
                + "\",\"data\":{\"tenant\":\"x\"}}").toList()) + "]}";
    }

    /// As the node program does it, which cannot read the part that it writes.
    private static String status(Path access, String version, String kind, String namespace, String name, String status) throws Exception {
        Path file = Files.writeString(Files.createTempFile(folder, "status", ".json"), "{\"apiVersion\":\"" + version + "\",\"kind\":\"" + kind.substring(0, 1).toUpperCase(Locale.ROOT) + kind.substring(1)
                + "\",\"metadata\":{\"name\":\"" + name + "\",\"namespace\":\"" + namespace + "\"},\"status\":" + status + "}");
        return server.kubectl(access, "apply", "--server-side", "--force-conflicts", "--subresource", "status", "-f", file.toString());
    }

    private static String claimStatus(Path access, String name, String status) throws Exception {
        return status(access, "resource.k8s.io/v1", "resourceClaim", "team", name, status);
    }

    @Test
    void shouldLetTheProgramWriteTheStatusOfItsOwnDevicesAlone() throws Exception {
        claim("ours", "node-1");
        claim("theirs", "node-2");

        assertThat(claimStatus(account, "ours", devices("gpu.sluice.dev", "node-1", "gpu-0", "gpu-1"))).contains("serverside-applied");
        for (String[] hostile : new String[][] {{"ours", devices("other.example", "node-1", "nic-0")}, {"theirs", devices("gpu.sluice.dev", "node-2", "gpu-0")},
                {"ours", "{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"x\",\"uid\":\"x\"}]}"}, {"ours", "{\"allocation\":{\"devices\":{\"results\":[]}}}"}}) {
            assertThatThrownBy(() -> claimStatus(account, hostile[0], hostile[1])).as(hostile[1]).hasMessageContaining("orbidden");
        }
        assertThatThrownBy(() -> claimStatus(unbound, "ours", devices("gpu.sluice.dev", "node-1", "gpu-0"))).hasMessageContaining("orbidden");
        assertThatThrownBy(() -> server.kubectl(account, "-n", "team", "label", "resourceclaim", "ours", "a=b")).hasMessageContaining("forbidden");
        assertThatCode(() -> server.kubectl(account, "-n", "team", "get", "resourceclaim", "ours")).doesNotThrowAnyException();
    }

    /// The name of the webhook that the server would ask; none is there, so it refuses the pod then. Empty: it asks none.
    private static String asked(String namespace, String labels, String spec) throws Exception {
        String pod = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"asked\",\"namespace\":\"" + namespace + "\",\"labels\":{" + labels + "}},\"spec\":{" + spec + "}}";
        try {
            create(folder.resolve("node/pki/admin.conf"), pod, "--dry-run=server", "--validate=false");
            return "";
        } catch (IOException e) {
            Matcher webhook = Pattern.compile("failed calling webhook \"([a-z]+)\\.older-tools").matcher(e.getMessage());
            return webhook.find() ? webhook.group(1) : e.getMessage();
        }
    }

    private static String containers(String kind, String... resources) {
        List<String> all = List.of(resources).stream().map(each -> "{\"name\":\"c" + kind.length() + each.length() + "\",\"image\":\"none\"" + (each.isEmpty() ? "" : ",\"resources\":" + each) + "}").toList();
        return "\"" + kind + "\":[" + String.join(",", all) + "]";
    }

    @Test
    void shouldShowTheWebhookThePodsOfOlderToolsAlone() throws Exception {
        String memory = "{\"limits\":{\"nvidia.com/gpu\":1,\"nvidia.com/gpumem\":3000}}";
        String gpu = "{\"limits\":{\"nvidia.com/gpu\":1}}";
        RealServer.await(() -> {
            try {
                return asked("team", "", containers("containers", memory)).equals("named") && asked("older", "", containers("containers", memory)).equals("labelled");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        for (String plain : List.of("", "{}", "{\"limits\":null}", "{\"limits\":{\"cpu\":1},\"requests\":{\"cpu\":1}}", "{\"limits\":{\"sluice.dev/gpu\":1}}", "{\"limits\":{\"other.com/gpumem\":1}}")) {
            for (String namespace : List.of("team", "older")) {
                assertThat(asked(namespace, "", containers("containers", plain))).as(plain).isEmpty();
                assertThat(asked(namespace, "", containers("initContainers", plain) + "," + containers("containers", ""))).as(plain).isEmpty();
            }
        }
        assertThat(asked("team", "", containers("containers", gpu))).isEmpty();
        assertThat(asked("older", "", containers("containers", gpu))).isEqualTo("labelled");
        for (String older : List.of(memory, "{\"limits\":{\"nvidia.com/gpumem-percentage\":25}}", "{\"limits\":{\"nvidia.com/gpucores\":25}}", "{\"limits\":{\"alnair/vgpu-memory\":1}}",
                "{\"requests\":{\"alnair/vgpu-compute\":1}}")) {
            for (String spec : List.of(containers("containers", older), containers("containers", "", older), containers("initContainers", "", older) + "," + containers("containers", ""))) {
                assertThat(asked("team", "", spec)).as(spec).isEqualTo("named");
                assertThat(asked("older", "", spec)).as(spec).isEqualTo("labelled");
                assertThat(asked("untouched", "", spec)).as(spec).doesNotContain("older-tools");
                assertThat(asked("kube-system", "", spec)).as(spec).doesNotContain("older-tools");
                assertThat(asked("team", "\"hami.io/webhook\":\"ignore\"", spec)).as(spec).doesNotContain("older-tools");
            }
        }
        for (String hostile : List.of("", "\"containers\":null", "\"containers\":[]")) {
            assertThat(asked("team", "", hostile)).as("the server's own words").contains("spec.containers").doesNotContain("older-tools");
        }
    }
}
