package sluice.kubernetes.plugin;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import sluice.kubernetes.wire.plugin.AllocateRequest;
import sluice.kubernetes.wire.plugin.AllocateResponse;
import sluice.kubernetes.wire.plugin.ContainerAllocateRequest;
import sluice.kubernetes.wire.plugin.ContainerPreferredAllocationRequest;
import sluice.kubernetes.wire.plugin.ContainerPreferredAllocationResponse;
import sluice.kubernetes.wire.plugin.Device;
import sluice.kubernetes.wire.plugin.DevicePluginGrpc;
import sluice.kubernetes.wire.plugin.DevicePluginOptions;
import sluice.kubernetes.wire.plugin.Empty;
import sluice.kubernetes.wire.plugin.ListAndWatchResponse;
import sluice.kubernetes.wire.plugin.NumaNode;
import sluice.kubernetes.wire.plugin.PreStartContainerRequest;
import sluice.kubernetes.wire.plugin.PreStartContainerResponse;
import sluice.kubernetes.wire.plugin.PreferredAllocationRequest;
import sluice.kubernetes.wire.plugin.PreferredAllocationResponse;
import sluice.kubernetes.wire.plugin.TopologyInfo;
import sluice.region.place.SluiceException;

/// What kubelet asks for one resource. It shows the text of an error as an event of the pod.
final class PluginService extends DevicePluginGrpc.DevicePluginImplBase {
    static final DevicePluginOptions OPTIONS = DevicePluginOptions.newBuilder().setPreStartRequired(true).setGetPreferredAllocationAvailable(true).build();
    private static final String HEALTHY = "Healthy";
    private static final String ILL = "Unhealthy";
    private static final int MOST_WATCHERS = 16;

    private final UnitResource resource;
    private final UnitGiver giver;
    private final UnitClaims claims;
    private final PrintStream log;
    private final List<ServerCallStreamObserver<ListAndWatchResponse>> watchers = new ArrayList<>();
    private ListAndWatchResponse list = ListAndWatchResponse.getDefaultInstance();

    PluginService(UnitResource resource, UnitGiver giver, UnitClaims claims, PrintStream log) {
        this.resource = resource;
        this.giver = giver;
        this.claims = claims;
        this.log = log;
    }

    UnitResource resource() {
        return resource;
    }

    /// Sends the list to kubelet, if it changed.
    synchronized void show(List<UnitList.Unit> units) {
        ListAndWatchResponse.Builder next = ListAndWatchResponse.newBuilder();
        for (UnitList.Unit unit : units) {
            Device.Builder device = Device.newBuilder().setID(unit.id()).setHealth(unit.healthy() ? HEALTHY : ILL);
            unit.numa().ifPresent(node -> device.setTopology(TopologyInfo.newBuilder().addNodes(NumaNode.newBuilder().setID(node))));
            next.addDevices(device);
        }
        ListAndWatchResponse changed = next.build();
        if (!changed.equals(list)) {
            list = changed;
            watchers.removeIf(ServerCallStreamObserver::isCancelled);
            watchers.forEach(watcher -> watcher.onNext(changed));
        }
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> answer) {
        answer.onNext(OPTIONS);
        answer.onCompleted();
    }

    /// The stream stays open for as long as kubelet wants it.
    @Override
    public synchronized void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> answer) {
        watchers.removeIf(ServerCallStreamObserver::isCancelled);
        if (watchers.size() >= MOST_WATCHERS) {
            answer.onError(Status.RESOURCE_EXHAUSTED.withDescription(MOST_WATCHERS + " watch already").asRuntimeException());
            return;
        }
        ServerCallStreamObserver<ListAndWatchResponse> watcher = (ServerCallStreamObserver<ListAndWatchResponse>) answer;
        watcher.setOnCancelHandler(() -> forget(watcher));
        watchers.add(watcher);
        watcher.onNext(list);
    }

    private synchronized void forget(ServerCallStreamObserver<ListAndWatchResponse> watcher) {
        watchers.remove(watcher);
    }

    /// Ends all streams: a server that ends would wait for them.
    synchronized void end() {
        List.copyOf(watchers).stream().filter(watcher -> !watcher.isCancelled()).forEach(StreamObserver::onCompleted);
        watchers.clear();
    }

    @Override
    public void getPreferredAllocation(PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> answer) {
        respond("prefer", answer, () -> {
            PreferredAllocationResponse.Builder all = PreferredAllocationResponse.newBuilder();
            for (ContainerPreferredAllocationRequest each : request.getContainerRequestsList()) {
                ContainerPreferredAllocationResponse.Builder one = ContainerPreferredAllocationResponse.newBuilder();
                giver.prefer(resource, each.getAvailableDeviceIdsList(), each.getMustIncludeDeviceIdsList(), each.getAllocationSize())
                        .forEach(id -> one.addDeviceIds(id.toString()));
                all.addContainerResponses(one);
            }
            return all.build();
        });
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> answer) {
        respond("give", answer, () -> {
            AllocateResponse.Builder all = AllocateResponse.newBuilder();
            for (ContainerAllocateRequest each : request.getContainerRequestsList()) {
                all.addContainerResponses(giver.give(resource, each.getDeviceIdsList()));
            }
            return all.build();
        });
    }

    @Override
    public void preStartContainer(PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> answer) {
        respond("start a container with", answer, () -> {
            claims.start(resource, request.getDeviceIdsList());
            return PreStartContainerResponse.getDefaultInstance();
        });
    }

    private <A> void respond(String what, StreamObserver<A> answer, Supplier<A> work) {
        A result;
        try {
            result = work.get();
        } catch (RuntimeException e) {
            String text = e instanceof SluiceException ? e.getMessage() : "the node program failed: " + e;
            log.println("sluice-kubernetes: cannot " + what + " " + resource.resource() + ": " + text);
            answer.onError(Status.FAILED_PRECONDITION.withDescription(text).asRuntimeException());
            return;
        }
        answer.onNext(result);
        answer.onCompleted();
    }
}
