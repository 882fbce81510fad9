package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.api.json.JsonTree;
import sluice.fault.Fault;
import sluice.kubernetes.wire.DRAResourceHealthGrpc;
import sluice.kubernetes.wire.DeviceHealth;
import sluice.kubernetes.wire.HealthStatus;
import sluice.kubernetes.wire.NodeWatchResourcesRequest;
import sluice.kubernetes.wire.NodeWatchResourcesResponse;

/// GPUs that fall ill, vanish and come back, as kubelet and the scheduler see them.
class HealthTest extends OnNode {
    private Iterator<NodeWatchResourcesResponse> watch(String service) {
        MethodDescriptor<NodeWatchResourcesRequest, NodeWatchResourcesResponse> method = DRAResourceHealthGrpc.getNodeWatchResourcesMethod().toBuilder()
                .setFullMethodName(service + "/NodeWatchResources").build();
        return ClientCalls.blockingServerStreamingCall(kubelet.driver(), method, CallOptions.DEFAULT, NodeWatchResourcesRequest.getDefaultInstance());
    }

    private static DeviceHealth second(Iterator<NodeWatchResourcesResponse> stream, HealthStatus status) {
        for (int answers = 0; answers < 8; answers++) {
            DeviceHealth second = stream.next().getDevices(1);
            if (second.getHealth() == status) {
                return second;
            }
        }
        throw new AssertionError("never " + status);
    }

    private List<String> tainted() {
        return !cluster.get(SLICE).has("spec") ? List.of() : cluster.get(SLICE).at("spec").at("devices").elements().stream().filter(device -> device.has("taints")).map(device -> device.at("name").text()).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"})
    void shouldTellKubeletHowEachGpuIs(String service) {
        Iterator<NodeWatchResourcesResponse> stream = watch(service);

        List<DeviceHealth> devices = stream.next().getDevicesList();

        assertThat(kubelet.info.getSupportedVersionsList()).contains(service);
        assertThat(devices.stream().map(device -> device.getDevice().getPoolName() + " " + device.getDevice().getDeviceName() + " " + device.getHealth()).collect(Collectors.toList()))
                .containsExactly("node-1 gpu-0000 HEALTHY", "node-1 gpu-0001 HEALTHY");
        assertThat(devices.getFirst().getLastUpdatedTime()).isPositive();
    }

    @Fault(kind = Fault.Kind.SWAP, of = "a GPU that falls off the bus, and comes back")
    @Test
    void shouldFollowAGpuThatVanishesAndComesBack() throws Exception {
        Iterator<NodeWatchResourcesResponse> stream = watch("v1.DRAResourceHealth");
        second(stream, HealthStatus.HEALTHY);

        agent.secondIsGone = true;
        assertThat(second(stream, HealthStatus.UNHEALTHY).getMessage()).contains("no longer");
        await(() -> tainted().equals(List.of("gpu-0001")));

        agent.secondIsGone = false;
        second(stream, HealthStatus.HEALTHY);
        await(() -> tainted().isEmpty());

        agent.health = "\"Xid 79\"";
        assertThat(second(stream, HealthStatus.UNHEALTHY).getMessage()).isEqualTo("Xid 79");
    }

    @Fault(kind = Fault.Kind.SWAP, of = "a GPU that falls off the bus while no node program runs")
    @Test
    void shouldTaintAGpuThatVanishedBeforeItStarted() throws Exception {
        await(() -> cluster.get(SLICE).has("spec"));
        allocate(CLAIM, "", result("gpu-0001", "1Gi", "25"));
        kubelet.prepare(CLAIM);
        agent.secondIsGone = true;
        restart();

        assertThat(second(watch("v1.DRAResourceHealth"), HealthStatus.UNHEALTHY).getMessage()).contains("no longer");
        await(() -> tainted().equals(List.of("gpu-0001")));

        kubelet.unprepare(CLAIM);
        restart();
        await(() -> cluster.get(SLICE).at("spec").at("devices").elements().size() == 1); // nothing is on it any more
    }

    @Test
    void shouldKeepNoWorkAwayBecauseOfAProgramsOwnError() throws Exception {
        agent.health = "\"Xid 31 (a program's error)\", \"hot: 91 °C, slows down at 90\", \"slowed down by heat\"";
        restart();
        await(() -> cluster.get(SLICE).has("spec"));

        assertThat(second(watch("v1.DRAResourceHealth"), HealthStatus.HEALTHY).getMessage()).isEmpty();
        assertThat(tainted()).isEmpty();
    }

    @Test
    void shouldPublishWhatKindOfGpuEachIs() throws Exception {
        await(() -> cluster.get(SLICE).has("spec"));

        List<JsonTree> devices = cluster.get(SLICE).at("spec").at("devices").elements();
        assertThat(devices).as("none that only a tenant's ledger names").hasSize(2);
        JsonTree attributes = devices.getFirst().at("attributes");
        assertThat(attributes.at("architecture").at("string").text()).isEqualTo("Hopper");
        assertThat(attributes.at("driverVersion").at("version").text()).isEqualTo("580.82.7");
        assertThat(attributes.at("cudaComputeCapability").at("version").text()).isEqualTo("9.0.0");
    }

    private int asked(int port, String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(), BodyHandlers.discarding()).statusCode();
        }
    }

    /// During an update the older program ends when the new one is ready.
    @Fault(kind = Fault.Kind.STOP, of = "the node's agent, before a new node program has reached it")
    @Test
    void shouldBeReadyWhenItHasReachedAgentAndCluster() throws Exception {
        int port = MetricsTest.freePort();
        agent.close();
        restart("--health-port", Integer.toString(port));
        assertThat(asked(port, "/ready")).isEqualTo(503);
        assertThat(asked(port, "/live")).as("a restart would not help").isEqualTo(200);

        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        for (int attempt = 0; attempt < 400 && asked(port, "/ready") != 200; attempt++) {
            Thread.sleep(50);
        }
        assertThat(asked(port, "/ready")).isEqualTo(200);
        assertThat(asked(port, "/other")).isEqualTo(404);
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the socket of the node program")
    @Test
    void shouldNotBeAliveWhenKubeletGetsNoAnswer() throws Exception {
        int port = MetricsTest.freePort();
        restart("--health-port", Integer.toString(port));
        assertThat(asked(port, "/live")).isEqualTo(200);

        Files.delete(folder.resolve("kubelet/plugins_registry/gpu.sluice.dev-reg.sock"));

        assertThat(asked(port, "/live")).isEqualTo(503);
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "kubelet, that opens streams and never reads")
    @Test
    void shouldBoundTheStreams() {
        for (int stream = 0; stream < 30; stream++) {
            watch("v1.DRAResourceHealth");
        }
        allocate();
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
    }
}
