package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
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
