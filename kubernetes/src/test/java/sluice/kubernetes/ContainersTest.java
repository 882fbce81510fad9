package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.api.json.JsonTree;
import sluice.kubernetes.wire.Claim;
import sluice.kubernetes.wire.NodePrepareResourcesRequest;
import sluice.kubernetes.wire.NodePrepareResourcesResponse;

/// Which container a claim is for, and that no container has two.
class ContainersTest extends OnNode {
    private static final Claim OTHER = FakeKubelet.claim("team", "other-gpu", "7f1c2d1e-0000-4000-8000-0123456789ab");

    private NodePrepareResourcesResponse prepareBoth() {
        allocate();
        allocate(OTHER, "", result("gpu-0001", "1Gi", "10"));
        return kubelet.stub().nodePrepareResources(NodePrepareResourcesRequest.newBuilder().addClaims(CLAIM).addClaims(OTHER).build());
    }

    private JsonTree declared(Claim claim) {
        return JsonTree.parse(agent.claims.get(claim.getUid()).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldNameTheContainer() {
        pod("main=train-gpu", "sidecar=another");
        allocate();

        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();

        assertThat(declared(CLAIM).at("pod").text()).isEqualTo("train");
        assertThat(declared(CLAIM).at("container").text()).isEqualTo("main");
    }

    @Test
    void shouldNameNoContainerWhenSeveralShareAClaim() {
        pod("main=train-gpu", "sidecar=train-gpu");
        allocate();

        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();

        assertThat(declared(CLAIM).at("container").text()).isEmpty();
    }

    @Test
    void shouldNameASharedClaimAfterAPodThatStillUsesIt() throws Exception {
        pod("main=train-gpu");
        allocate();
        kubelet.prepare(CLAIM);
        String path = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu";
        cluster.put(path, cluster.text(path).replace("\"name\":\"train\"", "\"name\":\"later\""));
        cluster.put("/api/v1/namespaces/team/pods/later", cluster.text("/api/v1/namespaces/team/pods/train").replace("main", "second"));
        driver.wake();

        await(() -> declared(CLAIM).at("pod").text().equals("later"));

        assertThat(declared(CLAIM).at("container").text()).isEqualTo("second");
        restart();
        await(() -> log.toString().isEmpty() && declared(CLAIM).at("pod").text().equals("later"));
    }

    @Test
    void shouldNotAskForAClaimThatEndsWithItsPod() throws Exception {
        allocate();
        String path = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/train-gpu";
        cluster.put(path, cluster.text(path).replace("\"metadata\":{", "\"metadata\":{\"ownerReferences\":[{\"kind\":\"Pod\",\"name\":\"train\"}],"));
        kubelet.prepare(CLAIM);
        long asked = cluster.asked.stream().filter(("GET " + path)::equals).count();
        restart();
        await(() -> cluster.asked.stream().filter(("GET " + SLICE)::equals).count() >= 2);

        assertThat(cluster.asked.stream().filter(("GET " + path)::equals).count()).isEqualTo(asked);
    }

    @Test
    void shouldRefuseTwoClaimsInOneContainer() {
        pod("main=train-gpu,other-gpu");

        NodePrepareResourcesResponse answer = prepareBoth();

        assertThat(answer.getClaimsOrThrow(UID).getError()).isEmpty();
        assertThat(answer.getClaimsOrThrow(OTHER.getUid()).getError()).contains("container 'main' of pod train").contains("one claim");
        assertThat(agent.claims).containsOnlyKeys(UID);
        assertThat(kubelet.prepare(OTHER).getError()).as("again").contains("one claim");
        kubelet.unprepare(CLAIM);
        assertThat(kubelet.prepare(OTHER).getError()).as("alone").isEmpty();
    }

    @Test
    void shouldGiveTwoContainersOfAPodAClaimEach() {
        pod("main=train-gpu", "second=other-gpu");

        NodePrepareResourcesResponse answer = prepareBoth();

        assertThat(answer.getClaimsMap().values()).allSatisfy(one -> assertThat(one.getError()).isEmpty());
        assertThat(declared(OTHER).at("container").text()).isEqualTo("second");
    }

    @Test
    void shouldCountTheClaimThatTheSchedulerMadeForAnExtendedResource() {
        allocate();
        cluster.put("/api/v1/namespaces/team/pods/train", Map.of("metadata", Map.of("name", "train", "namespace", "team", "uid", POD), "spec",
                Map.of("containers", List.of(Map.of("name", "main"))), "status", Map.of("extendedResourceClaimStatus", Map.of("resourceClaimName", "train-gpu",
                        "requestMappings", List.of(Map.of("containerName", "main", "resourceName", "sluice.dev/gpu", "requestName", "container-0-request-0"))))));

        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();

        assertThat(declared(CLAIM).at("container").text()).isEqualTo("main");
    }

    @Test
    void shouldNotTakeANewPodOfTheSameNameForTheOldOne() {
        pod("main=train-gpu");
        cluster.put("/api/v1/namespaces/team/pods/train", cluster.text("/api/v1/namespaces/team/pods/train").replace(POD, "22222222-0000-4000-8000-0123456789ab"));
        allocate();

        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();

        assertThat(declared(CLAIM).at("container").text()).isEmpty();
    }
}
