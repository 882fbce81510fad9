package sluice.kubernetes.kubelet;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.kubernetes.node.NodeGpu;
import sluice.kubernetes.wire.DRAResourceHealthGrpc;
import sluice.kubernetes.wire.DeviceHealth;
import sluice.kubernetes.wire.DeviceIdentifier;
import sluice.kubernetes.wire.HealthStatus;
import sluice.kubernetes.wire.NodeWatchResourcesRequest;
import sluice.kubernetes.wire.NodeWatchResourcesResponse;

/// Tells kubelet again and again how each GPU is. While the node's agent does not answer it tells nothing, and kubelet counts the GPUs as unknown.
final class HealthService extends DRAResourceHealthGrpc.DRAResourceHealthImplBase {
    static final String STABLE = "v1.DRAResourceHealth";
    static final String ALPHA = "v1alpha1.DRAResourceHealth";
    private static final int MOST_STREAMS = 8;
    private static final int TEXT_LENGTH = 1000;

    private final String pool;
    private final List<ServerCallStreamObserver<NodeWatchResourcesResponse>> streams = new ArrayList<>();
    private NodeWatchResourcesResponse last;

    /// @param pool of the node's slice
    HealthService(String pool) {
        this.pool = pool;
    }

    synchronized void tell(List<NodeGpu> gpus) {
        NodeWatchResourcesResponse.Builder all = NodeWatchResourcesResponse.newBuilder();
        gpus.forEach(gpu -> all.addDevices(health(gpu, Instant.now().getEpochSecond())));
        last = all.build();
        streams.removeIf(ServerCallStreamObserver::isCancelled);
        // A kubelet that does not read misses some; the next has everything.
        streams.stream().filter(ServerCallStreamObserver::isReady).forEach(stream -> stream.onNext(last));
    }

    private DeviceHealth health(NodeGpu gpu, long now) {
        String said = String.join("; ", gpu.unfit());
        return DeviceHealth.newBuilder().setDevice(DeviceIdentifier.newBuilder().setPoolName(pool).setDeviceName(gpu.device()))
                .setHealth(gpu.unfit().isEmpty() ? HealthStatus.HEALTHY : HealthStatus.UNHEALTHY).setLastUpdatedTime(now)
                .setMessage(said.length() <= TEXT_LENGTH ? said : said.substring(0, TEXT_LENGTH)).build();
    }

    @Override
    public synchronized void nodeWatchResources(NodeWatchResourcesRequest request, StreamObserver<NodeWatchResourcesResponse> answer) {
        streams.removeIf(ServerCallStreamObserver::isCancelled);
        if (streams.size() >= MOST_STREAMS) {
            answer.onError(Status.RESOURCE_EXHAUSTED.withDescription("there are " + MOST_STREAMS + " streams already").asRuntimeException());
            return;
        }
        ServerCallStreamObserver<NodeWatchResourcesResponse> stream = (ServerCallStreamObserver<NodeWatchResourcesResponse>) answer;
        stream.setOnCancelHandler(() -> {}); // then a stream that has ended is one that is cancelled, and no error
        streams.add(stream);
        if (last != null) {
            stream.onNext(last);
        }
    }

    /// Ends all streams.
    synchronized void end() {
        streams.stream().filter(stream -> !stream.isCancelled()).forEach(StreamObserver::onCompleted);
        streams.clear();
    }
}
