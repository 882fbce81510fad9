package sluice.kubernetes.plugin;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.kubelet.UnixClient;
import sluice.kubernetes.wire.podresources.ContainerDevices;
import sluice.kubernetes.wire.podresources.ContainerResources;
import sluice.kubernetes.wire.podresources.ListPodResourcesRequest;
import sluice.kubernetes.wire.podresources.PodResources;
import sluice.kubernetes.wire.podresources.PodResourcesListerGrpc;
import sluice.region.place.SluiceException;

/// Asks kubelet which container has which units.
final class PodUnits implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 10;

    private final Path socket;
    private final UnixClient client = new UnixClient();
    private final Map<String, UnitResource> resources = new HashMap<>();

    PodUnits(Path socket, List<UnitResource.Family> families) {
        this.socket = socket;
        UnitResource.of(families).forEach(resource -> resources.put(resource.resource(), resource));
    }

    HeldUnits list() {
        ManagedChannel channel = client.channel(socket);
        try {
            List<HeldUnits.Container> containers = new ArrayList<>();
            for (PodResources pod : PodResourcesListerGrpc.newBlockingStub(channel).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .list(ListPodResourcesRequest.getDefaultInstance()).getPodResourcesList()) {
                for (ContainerResources container : pod.getContainersList()) {
                    containers.add(new HeldUnits.Container(new GivenUnits.Holder(pod.getNamespace(), pod.getName(), container.getName()), units(container)));
                }
            }
            return new HeldUnits(List.copyOf(containers));
        } catch (StatusRuntimeException e) {
            throw new SluiceException("kubelet does not tell on " + socket + " which containers have which devices (" + e.getStatus().getCode() + ")", e);
        } finally {
            channel.shutdownNow();
        }
    }

    private Map<UnitResource, Set<String>> units(ContainerResources container) {
        Map<UnitResource, Set<String>> units = new EnumMap<>(UnitResource.class);
        for (ContainerDevices devices : container.getDevicesList()) {
            UnitResource resource = resources.get(devices.getResourceName());
            if (resource != null) {
                // Kubelet has an entry for each memory node.
                Set<String> ids = units.computeIfAbsent(resource, added -> new HashSet<>());
                devices.getDeviceIdsList().forEach(id -> ids.add(UnitId.parse(id).toString()));
            }
        }
        return units;
    }

    @Override
    public void close() {
        client.close();
    }
}
