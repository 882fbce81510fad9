package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import sluice.api.json.JsonTree;
import sluice.fault.Fault;
import sluice.kubernetes.wire.Claim;

/// What the cluster learns of claims and pods.
class ReportsTest extends OnNode {
    private static final String STATUS = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu/status";
    private static final String EVENTS = "/apis/events.k8s.io/v1/namespaces/team/events/";
    private static final String FINDING = "{\"kind\":\"%s\",\"pid\":4711,\"uid\":0,\"uuid\":\"GPU-0000\",\"command\":\"/bin/static\\u0007 job\",\"tenant\":\"\",\"container\":\"%s\","
            + "\"usedBytes\":1,\"ledgerBytes\":0,\"sinceNanos\":1,\"action\":\"reported\"}";

    private static String container(String name) {
        return name.repeat(64).substring(0, 64);
    }

    @Test
    void shouldTellInTheClaimWhichLimitsHold() throws Exception {
        allocate();
        kubelet.prepare(CLAIM);

        await(() -> cluster.get(STATUS).has("status"));

        JsonTree device = cluster.get(STATUS).at("status").at("devices").elements().getFirst();
        assertThat(cluster.get(STATUS).at("metadata").at("uid").text()).isEqualTo(UID);
        assertThat(device.at("driver").text()).isEqualTo("gpu.sluice.dev");
        assertThat(device.at("device").text()).isEqualTo("gpu-0000");
        assertThat(device.at("shareID").text()).isEqualTo("s");
        assertThat(device.at("conditions").elements().getFirst().at("status").text()).isEqualTo("True");
        assertThat(device.at("data").at("limits").value()).isEqualTo(Map.of("memory", (10L << 30) + "b", "compute", "25%", "weight", "1"));
        assertThat(device.at("data").at("tenant").text()).isEqualTo("k8s.team.train-gpu");
    }

    @Test
    void shouldTellInTheClaimThatItsGpuFellIll() throws Exception {
        allocate(CLAIM, "", result("gpu-0001", "1Gi", "25"));
        kubelet.prepare(CLAIM);
        agent.health = "\"it is lost\"";
        restart();

        await(() -> cluster.get(STATUS).has("status") && cluster.text(STATUS).contains("it is lost"));

        JsonTree condition = cluster.get(STATUS).at("status").at("devices").elements().getFirst().at("conditions").elements().getFirst();
        assertThat(condition.at("status").text()).isEqualTo("False");
        assertThat(condition.at("reason").text()).isEqualTo("Unhealthy");
    }

    @Test
    void shouldTellThePodOfAProgramWithoutTheLibrary() throws Exception {
        pod("main=train-gpu", "other=another");
        allocate();
        kubelet.prepare(CLAIM);
        agent.findings = FINDING.formatted("unknown", container("main")) + "," + FINDING.formatted("over", container("other")) + "," + FINDING.formatted("unknown", "0".repeat(64));
        restart();

        await(() -> !cluster.below(EVENTS).isEmpty());

        JsonTree event = cluster.below(EVENTS).getFirst();
        assertThat(event.at("reason").text()).isEqualTo("GpuLimitsNotEnforced");
        assertThat(event.at("type").text()).isEqualTo("Warning");
        assertThat(event.at("regarding").at("uid").text()).isEqualTo(POD);
        assertThat(event.at("regarding").at("fieldPath").text()).isEqualTo("spec.containers{main}");
        assertThat(event.at("note").text()).contains("pid 4711 (/bin/static? job) in container main uses GPU-0000").hasSizeLessThan(1024);
        restart();
        await(() -> cluster.asked.stream().filter(request -> request.startsWith("POST " + EVENTS.substring(0, EVENTS.length() - 1))).count() == 2);
        assertThat(cluster.below(EVENTS)).as("the same event").hasSize(1);
        assertThat(log.toString()).doesNotContain("409");
    }

    @Fault(kind = Fault.Kind.SWAP, of = "a claim that is gone at the API server, and that kubelet has not taken back")
    @Test
    void shouldTellThePodBesideAClaimThatIsGone() throws Exception {
        Claim gone = FakeKubelet.claim("team", "gone", "00000000-0000-4000-8000-0123456789ab"); // it comes first
        allocate(gone, "", result("gpu-0000", "1Gi", "5"));
        pod("main=train-gpu");
        allocate();
        assertThat(kubelet.prepare(gone).getError() + kubelet.prepare(CLAIM).getError()).isEmpty();
        cluster.remove("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/gone");
        agent.findings = FINDING.formatted("unknown", container("main"));

        await(() -> !cluster.below(EVENTS).isEmpty());
    }

    @Fault(kind = Fault.Kind.STOP, of = "the API server, for one event")
    @Test
    void shouldTellOfOneProcessWhenItCannotTellOfAnother() throws Exception {
        pod("main=train-gpu", "other=train-gpu");
        allocate();
        kubelet.prepare(CLAIM);
        AtomicBoolean told = new AtomicBoolean();
        cluster.answer(EVENTS.substring(0, EVENTS.length() - 1), body -> {
            told.compareAndSet(false, body.contains("{other}"));
            return body.contains("{main}") ? FakeHttp.FORBIDDEN : "{}";
        });
        agent.findings = FINDING.formatted("unknown", container("main")) + "," + FINDING.formatted("unknown", container("other"));

        await(told::get);
        await(() -> log.toString(StandardCharsets.UTF_8).contains("forbidden"));
    }

    @Test
    void shouldTellWhenKubeletNamesTheContainerLater() throws Exception {
        agent.findings = FINDING.formatted("unknown", container("main"));
        int before = agent.audits.get();
        await(() -> agent.audits.get() > before);
        pod("main=train-gpu");
        allocate();
        kubelet.prepare(CLAIM);

        await(() -> !cluster.below(EVENTS).isEmpty());
    }

    @Test
    void shouldTellNobodyOfProcessesInOtherPods() throws Exception {
        allocate();
        kubelet.prepare(CLAIM);
        agent.findings = FINDING.formatted("unknown", "0".repeat(64)) + "," + FINDING.formatted("unknown", "");
        int before = agent.audits.get();

        await(() -> agent.audits.get() >= before + 2);

        assertThat(cluster.below(EVENTS)).isEqualTo(List.of());
    }
}
