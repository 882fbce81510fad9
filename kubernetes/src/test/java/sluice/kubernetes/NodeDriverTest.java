package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import sluice.api.json.JsonTree;
import sluice.fault.Fault;
import sluice.kubernetes.wire.Claim;
import sluice.kubernetes.wire.DRAPluginGrpc;
import sluice.kubernetes.wire.NodePrepareResourceResponse;
import sluice.kubernetes.wire.NodePrepareResourcesRequest;
import sluice.kubernetes.wire.NodePrepareResourcesResponse;
import sluice.region.place.SluiceException;

/// The claims of the node program, and its slice.
class NodeDriverTest extends OnNode {
    @Test
    void shouldTellKubeletWhatItIs() {
        assertThat(kubelet.info.getType()).isEqualTo("DRAPlugin");
        assertThat(kubelet.info.getName()).isEqualTo("gpu.sluice.dev");
        assertThat(kubelet.info.getSupportedVersionsList()).containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth");
    }

    @Test
    void shouldGiveAContainerItsPartOfAGpu() throws Exception {
        allocate(CLAIM, PARAMETERS.formatted(",\"weight\":3,\"priority\":\"high\""), result("gpu-0000", "10Gi", "25"));

        NodePrepareResourceResponse answer = kubelet.prepare(CLAIM);

        assertThat(answer.getError()).isEmpty();
        assertThat(answer.getDevices(0).getDeviceName()).isEqualTo("gpu-0000");
        assertThat(answer.getDevices(0).getCdiDeviceIdsList()).hasSize(2).contains("nvidia.com/gpu=GPU-0000");
        JsonTree declared = JsonTree.parse(agent.claims.get(UID).getBytes(StandardCharsets.UTF_8));
        assertThat(declared.at("limits").value()).isEqualTo(Map.of("memory", (10L << 30) + "b", "compute", "25%", "weight", "3", "priority", "high"));
        assertThat(declared.at("pod").text()).isEqualTo("train");
        Path file = cdiFiles().getFirst();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        JsonTree device = json(file).at("devices").elements().getFirst();
        assertThat(answer.getDevices(0).getCdiDeviceIdsList()).contains(json(file).at("kind").text() + "=" + device.at("name").text());
        assertThat(device.at("containerEdits").at("env").elements().stream().map(JsonTree::text)).contains("LD_PRELOAD=/opt/sluice/lib/libsluice.so",
                "SLUICE_AGENT=/run/sluice/register/agent-register.sock", "SLUICE_LABEL=claim:" + declared.at("token").text());
        assertThat(device.at("containerEdits").at("mounts").elements().stream().map(mount -> mount.at("hostPath").text())).containsExactly("/opt/sluice/lib", "/run/sluice/register");
    }

    /// Images with CUDA set the variable to `all`, and NVIDIA's runtime then brings every GPU.
    @Test
    void shouldKeepNvidiasRuntimeOutAlsoWithoutItsDevices() throws Exception {
        for (String devices : List.of("nvidia.com/gpu", "none")) {
            restart("--driver-devices", devices);
            allocate();
            kubelet.prepare(CLAIM);

            assertThat(Files.readString(cdiFiles().getFirst())).as(devices).contains("\"NVIDIA_VISIBLE_DEVICES=void\"");
        }
    }

    @Test
    void shouldAnswerTheSameAgain() {
        allocate();

        NodePrepareResourceResponse first = kubelet.prepare(CLAIM);
        String declared = agent.claims.get(UID);
        cluster.remove("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu");

        assertThat(kubelet.prepare(CLAIM)).isEqualTo(first);
        assertThat(agent.claims.get(UID)).isEqualTo(declared);
    }

    /// With hundreds of claims at once. Kubelet would try a refused one again after up to a minute and a half.
    @Test
    void shouldWaitWhenTheAgentWasAskedTooMuch() throws Exception {
        allocate();
        agent.tooMany.set(3);
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        assertThat(agent.claims).containsKey(UID);

        agent.tooMany.set(3);
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();
        assertThat(agent.claims).isEmpty();
        assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void shouldLeaveNothingAfterUnprepare() throws Exception {
        allocate();
        NodePrepareResourceResponse first = kubelet.prepare(CLAIM);

        assertThat(kubelet.unprepare(CLAIM)).isEmpty();
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();

        assertThat(agent.claims).isEmpty();
        assertThat(cdiFiles()).isEmpty();
        assertThat(written()).isEmpty();
        assertThat(kubelet.prepare(CLAIM).getDevices(0).getCdiDeviceIds(0)).as("a name is never used again").isNotEqualTo(first.getDevices(0).getCdiDeviceIds(0));
    }

    @Test
    void shouldSpeakTheOlderVersionToo() {
        allocate();
        MethodDescriptor<NodePrepareResourcesRequest, NodePrepareResourcesResponse> older = DRAPluginGrpc.getNodePrepareResourcesMethod().toBuilder()
                .setFullMethodName("k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources").build();

        NodePrepareResourcesResponse answer = ClientCalls.blockingUnaryCall(kubelet.driver(), older, CallOptions.DEFAULT,
                NodePrepareResourcesRequest.newBuilder().addClaims(CLAIM).build());

        assertThat(answer.getClaimsOrThrow(UID).getDevicesCount()).isOne();
    }

    @Test
    void shouldNameTheFieldThatIsWrong() throws Exception {
        for (List<String> wrong : List.of(List.of(",\"weight\":0", "parameters.weight"), List.of(",\"priority\":\"urgent\"", "parameters.priority"),
                List.of(",\"exclusive\":[]", "parameters.exclusive"), List.of(",\"strict\":\"very\"", "parameters.strict"), List.of(",\"colour\":\"red\"", "parameters.colour"), List.of(",\"memory\":\"99g\"", "parameters.memory"))) {
            allocate(CLAIM, PARAMETERS.formatted(wrong.getFirst()), result("gpu-0000", "10Gi", "25"));
            assertThat(kubelet.prepare(CLAIM).getError()).contains(wrong.getLast());
        }
        allocate(CLAIM, "{\"apiVersion\":\"sluice.dev/v9\",\"kind\":\"GpuParameters\"}", result("gpu-0000", "10Gi", "25"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("parameters.apiVersion").contains("sluice.dev/v1alpha1");
        assertThat(agent.claims).isEmpty();
        assertThat(written()).isEmpty();
    }

    @Test
    void shouldHoldTheCapOfAClaimStrictly() {
        allocate(CLAIM, PARAMETERS.formatted(",\"strict\":true"), result("gpu-0000", "10Gi", "25"));
        assertThat(kubelet.prepare(CLAIM).getDevicesCount()).isOne();
        assertThat(agent.claims.get(UID)).contains("25%").contains("\"strict\":\"true\"");
    }

    @Test
    void shouldRefuseAmountsThatItCannotEnforce() {
        allocate(CLAIM, PARAMETERS.formatted(",\"strict\":true"), result("gpu-0000", "10Gi", "100"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("parameters.strict").contains("below 100");

        allocate(CLAIM, "", result("gpu-0000", "10Gi", "25"), result("gpu-0001", "4Gi", "25"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("memory").contains("on each");

        allocate(CLAIM, "", result("gpu-0000", "10Gi", "25").replace("consumedCapacity", "nothing"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("DRAConsumableCapacity");

        allocate(CLAIM, "", result("gpu-0007", "10Gi", "25"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("gpu-0007");
    }

    @Test
    void shouldRefuseOtherParametersForEachRequest() {
        String weight = "{\"source\":\"FromClaim\",\"requests\":[\"%s\"],\"opaque\":{\"driver\":\"gpu.sluice.dev\",\"parameters\":" + PARAMETERS.formatted(",\"weight\":%d") + "}}";
        String[] results = {result("gpu-0000", "1Gi", "10").replace("\"gpu\"", "\"first\""), result("gpu-0001", "1Gi", "10").replace("\"gpu\"", "\"second/large\"")};

        allocateWith(CLAIM, weight.formatted("first", 3) + "," + weight.formatted("second", 1), results);
        assertThat(kubelet.prepare(CLAIM).getError()).contains("first has weight 3; second/large has weight 1").contains("a claim for each");
        allocateWith(CLAIM, weight.formatted("first", 3), results);
        assertThat(kubelet.prepare(CLAIM).getError()).contains("second/large has none");

        allocateWith(CLAIM, weight.formatted("first", 3) + "," + weight.formatted("second/large", 3) + "," + weight.formatted("another", 9), results);
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        assertThat(agent.claims.get(UID)).contains("\"weight\":\"3\"");
    }

    @Test
    void shouldAddUpTwoPartsOfOneGpu() {
        allocate(CLAIM, "", result("gpu-0000", "1Gi", "10"), result("gpu-0000", "2Gi", "20"));

        assertThat(kubelet.prepare(CLAIM).getDevicesCount()).isEqualTo(2);
        assertThat(agent.claims.get(UID)).contains((3L << 30) + "b").contains("30%");
    }

    @Fault(kind = Fault.Kind.SWAP, of = "a claim that was deleted and made again")
    @Test
    void shouldRefuseAClaimOfAnotherUid() {
        allocate();

        assertThat(kubelet.prepare(CLAIM.toBuilder().setUid("00000000-1111-4000-8000-0123456789ab").build()).getError()).contains("gone");
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        assertThat(kubelet.prepare(CLAIM.toBuilder().setName("other").build()).getError()).contains("team/train-gpu");
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "requests of kubelet")
    @Test
    void shouldSurviveHostileRequests() {
        assertThat(kubelet.prepare(FakeKubelet.claim("team", "train", "../../etc/x")).getError()).contains("no id");
        assertThat(kubelet.unprepare(FakeKubelet.claim("team", "train", "../../etc/x"))).contains("no id");
        assertThat(kubelet.prepare(FakeKubelet.claim("../..", "train", UID)).getError()).contains("no name");
        assertThat(kubelet.prepare(FakeKubelet.claim("", "", UID)).getError()).contains("no name");
        assertThat(kubelet.unprepare(FakeKubelet.claim("team", "train", "unknown"))).isEmpty();
        assertThatThrownBy(() -> kubelet.prepare(FakeKubelet.claim("team", "x".repeat(3 << 20), UID))).isInstanceOf(StatusRuntimeException.class);
        for (String nonsense : List.of("[]", "{}", "nonsense", "{\"status\":{\"allocation\":{\"devices\":{\"results\":7}}}}", "[".repeat(5000))) {
            cluster.put("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu", nonsense);
            assertThat(kubelet.prepare(CLAIM).getError()).isNotEmpty();
        }
        allocate();
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
    }

    @Fault(kind = Fault.Kind.KILL, of = "the node program, between two steps of a claim")
    @Test
    void shouldGoOnAfterARestartAtEachStep() throws Exception {
        allocate();
        NodePrepareResourceResponse first = kubelet.prepare(CLAIM);

        // Written down, but not declared and not described.
        agent.claims.clear();
        Files.delete(cdiFiles().getFirst());
        restart();
        await(() -> agent.claims.containsKey(UID));
        assertThat(kubelet.prepare(CLAIM)).isEqualTo(first);
        assertThat(cdiFiles()).hasSize(1);

        // Taken back at the agent, and no further.
        agent.claims.clear();
        restart();
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();
        assertThat(cdiFiles()).isEmpty();

        // Nothing on disk, but the agent and the runtime have something of it.
        agent.claims.put(UID, "{}");
        Files.writeString(folder.resolve("cdi/sluice.dev-claim-" + UID + ".json"), "{}");
        Files.writeString(folder.resolve("cdi/nvidia.json"), "{}");
        restart();
        await(() -> agent.claims.isEmpty() && !Files.exists(folder.resolve("cdi/sluice.dev-claim-" + UID + ".json")));
        assertThat(cdiFiles()).as("files of others stay").hasSize(1);
    }

    /// An agent that is older than this program may refuse a claim that it took before.
    @Fault(kind = Fault.Kind.SWAP, of = "the node's agent, for one that refuses a claim")
    @Test
    void shouldGoOnWhenOneClaimCannotBeDeclared() throws Exception {
        Claim later = FakeKubelet.claim("team", "later", "fffffff0-0000-4000-8000-0123456789ab");
        allocate(CLAIM, PARAMETERS.formatted(",\"strict\":true"), result("gpu-0000", "1Gi", "25"));
        allocate(later, "", result("gpu-0000", "1Gi", "25"));
        assertThat(kubelet.prepare(CLAIM).getError() + kubelet.prepare(later).getError()).isEmpty();
        agent.refused = "strict";
        agent.claims.clear();
        agent.claims.put("00000000-0000-4000-8000-00000000dead", "{}");
        for (Path file : cdiFiles()) {
            Files.delete(file);
        }
        restart();

        await(() -> agent.claims.keySet().equals(Set.of(later.getUid())) && Files.exists(folder.resolve("cdi/sluice.dev-claim-" + later.getUid() + ".json")));
        await(() -> log.toString(StandardCharsets.UTF_8).contains("claim " + UID + ": the node's agent refuses"));
    }

    @Test
    void shouldKeepNothingOfAClaimThatTheAgentRefuses() throws Exception {
        agent.refused = "strict";
        allocate(CLAIM, PARAMETERS.formatted(",\"strict\":true"), result("gpu-0000", "1Gi", "25"));

        assertThat(kubelet.prepare(CLAIM).getError()).contains("it knows no strict");

        assertThat(written()).isEmpty();
        assertThat(cdiFiles()).isEmpty();
    }

    @Fault(kind = Fault.Kind.STOP, of = "the node's agent, while kubelet asks")
    @Test
    void shouldLoseNoClaimWhileTheAgentIsAway() throws Exception {
        allocate();
        agent.close();
        assertThat(kubelet.prepare(CLAIM).getError()).contains("does not answer");

        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();

        agent.close();
        assertThat(kubelet.unprepare(CLAIM)).contains("does not answer");
        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();
        assertThat(written()).isEmpty();
    }

    /// Kubelet would try again only after up to a minute and a half.
    @Test
    void shouldWaitForAnAgentThatIsStartedAnew() throws Exception {
        allocate();
        agent.close();
        Thread start = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(1000);
                agent = new FakeAgent(folder.resolve("agent/agent.sock"));
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        start.join();
        assertThat(agent.claims).containsKey(UID);
    }

    @Test
    void shouldPrepareFiftyClaimsAtOnce() throws Exception {
        List<Claim> claims = new ArrayList<>();
        for (int number = 0; number < 50; number++) {
            Claim claim = FakeKubelet.claim("team", "train-" + number, "00000000-0000-4000-8000-0000000000" + (number + 10));
            allocate(claim, "", result("gpu-0000", "64Mi", "1"));
            claims.add(claim);
        }
        allocate();
        kubelet.prepare(CLAIM);
        long[] nanos = new long[claims.size()];
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (int number = 0; number < claims.size(); number++) {
                int at = number;
                all.add(pool.submit(() -> {
                    long began = System.nanoTime();
                    assertThat(kubelet.prepare(claims.get(at)).getError()).isEmpty();
                    nanos[at] = System.nanoTime() - began;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
        Arrays.sort(nanos);
        System.out.printf("prepare of 50 claims at once: median %.0f ms, p99 %.0f ms%n", nanos[25] / 1e6, nanos[49] / 1e6);

        assertThat(agent.claims).hasSize(51);
        assertThat(agent.claims.values().stream().map(body -> body.replaceAll("(?s).*\"token\":\"([^\"]*)\".*", "$1")).distinct()).hasSize(51);
        claims.forEach(claim -> assertThat(kubelet.unprepare(claim)).isEmpty());
        assertThat(cdiFiles()).hasSize(1);
    }

    @Test
    void shouldPublishTheGpusOfTheNode() throws Exception {
        await(() -> cluster.get(SLICE).has("spec"));

        JsonTree spec = cluster.get(SLICE).at("spec");
        assertThat(spec.at("driver").text()).isEqualTo("gpu.sluice.dev");
        assertThat(spec.at("nodeName").text()).isEqualTo("node-1");
        JsonTree gpu = spec.at("devices").elements().getFirst();
        assertThat(gpu.at("name").text()).isEqualTo("gpu-0000");
        assertThat(gpu.at("allowMultipleAllocations").isTrue()).isTrue();
        long bytes = Long.parseLong(gpu.at("capacity").at("memory").at("value").text());
        assertThat(bytes).isLessThan((16L << 30) / 100 * 97 + 1).isGreaterThan((16L << 30) / 100 * 96);
        assertThat(bytes % (64 << 20)).isZero();
        assertThat(gpu.at("capacity").at("memory").at("requestPolicy").at("default").text()).isEqualTo(Long.toString(bytes));
        assertThat(gpu.at("capacity").at("compute").at("value").text()).isEqualTo("100");
        assertThat(gpu.at("attributes").at("uuid").at("string").text()).isEqualTo("GPU-0000");
        assertThat(cluster.get(SLICE).at("metadata").at("ownerReferences").elements().getFirst().at("uid").text()).isEqualTo("node-uid");
    }

    @Test
    void shouldPublishTheDefaultsOfTheAdministrator() throws Exception {
        for (List<String> each : List.of(List.of("5000Mi", "20", Long.toString(5056L << 20), "20"), List.of("50%", "0", Long.toString(7936L << 20), "0"),
                List.of("900Gi", "100", Long.toString(15872L << 20), "100"), List.of("100%", "0", Long.toString(15872L << 20), "0"))) {
            restart("--default-memory", each.getFirst(), "--default-compute", each.get(1));
            await(() -> cluster.get(SLICE).has("spec") && defaultOf("memory").equals(each.get(2)) && defaultOf("compute").equals(each.get(3)));
        }
        for (List<String> wrong : List.of(List.of("--default-memory", "much"), List.of("--default-memory", "0"), List.of("--default-memory", "101%"), List.of("--default-compute", "101"))) {
            assertThatThrownBy(() -> driver("", wrong.toArray(String[]::new))).isInstanceOf(SluiceException.class).hasMessageContaining(wrong.getFirst());
        }
    }

    private String defaultOf(String capacity) {
        return cluster.get(SLICE).at("spec").at("devices").elements().getFirst().at("capacity").at(capacity).at("requestPolicy").at("default").text();
    }

    @Test
    void shouldPublishAgainWhenKubeletHasWipedTheSlice() throws Exception {
        await(() -> cluster.get(SLICE).has("spec"));
        long generation = cluster.get(SLICE).at("spec").at("pool").at("generation").number();

        cluster.remove(SLICE);
        kubelet.close();
        kubelet = new FakeKubelet(folder.resolve("kubelet"), "");

        await(() -> cluster.get(SLICE).has("spec"));
        assertThat(cluster.get(SLICE).at("spec").at("pool").at("generation").number()).isGreaterThan(generation);
    }

    @Test
    void shouldTaintAGpuThatFellIllAndWriteNothingWithoutAChange() throws Exception {
        await(() -> cluster.get(SLICE).has("spec"));
        restart();
        await(() -> cluster.asked.stream().filter(("GET " + SLICE)::equals).count() >= 2);
        assertThat(cluster.asked).doesNotContain("PUT " + SLICE);

        agent.health = "\"it is lost\"";
        restart();

        await(() -> cluster.get(SLICE).at("spec").at("devices").elements().getLast().has("taints"));
        assertThat(cluster.get(SLICE).at("spec").at("devices").elements().getFirst().has("taints")).isFalse();
    }
}
