package sluice.kubernetes;

import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import sluice.kubernetes.wire.plugin.AllocateRequest;
import sluice.kubernetes.wire.plugin.ContainerAllocateRequest;
import sluice.kubernetes.wire.plugin.ContainerAllocateResponse;
import sluice.kubernetes.wire.plugin.ContainerPreferredAllocationRequest;
import sluice.kubernetes.wire.plugin.Device;
import sluice.kubernetes.wire.plugin.DevicePluginGrpc;
import sluice.kubernetes.wire.plugin.Empty;
import sluice.kubernetes.wire.plugin.ListAndWatchResponse;
import sluice.kubernetes.wire.plugin.PreStartContainerRequest;
import sluice.kubernetes.wire.plugin.PreferredAllocationRequest;
import sluice.kubernetes.wire.plugin.RegisterRequest;
import sluice.kubernetes.wire.plugin.RegistrationGrpc;
import sluice.kubernetes.wire.podresources.ContainerDevices;
import sluice.kubernetes.wire.podresources.ContainerResources;
import sluice.kubernetes.wire.podresources.ListPodResourcesRequest;
import sluice.kubernetes.wire.podresources.ListPodResourcesResponse;
import sluice.kubernetes.wire.podresources.PodResources;
import sluice.kubernetes.wire.podresources.PodResourcesListerGrpc;

/// The part of kubelet that gives out devices: it takes registrations, watches the lists, asks for preferences, allocates, and tells who has what.
final class FakeDeviceManager implements AutoCloseable {
    private static final int SECONDS = 30;

    private final Path folder;
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final List<Server> servers = new ArrayList<>();
    private final Map<String, ManagedChannel> plugins = new ConcurrentHashMap<>();
    private final Map<String, Map<String, Device>> lists = new ConcurrentHashMap<>();
    /// Resource → unit → container.
    private final Map<String, Map<String, String>> taken = new ConcurrentHashMap<>();
    private final Map<String, Map<String, List<String>>> containers = new LinkedHashMap<>();
    final List<RegisterRequest> registered = new ArrayList<>();
    /// Why lists ended.
    final List<String> problems = new CopyOnWriteArrayList<>();

    FakeDeviceManager(Path folder) throws IOException {
        this.folder = folder;
        start();
    }

    /// As kubelet does it: it empties the folder, and makes its socket anew.
    void start() throws IOException {
        Path plugin = folder.resolve("device-plugins");
        Files.createDirectories(plugin);
        Files.createDirectories(folder.resolve("pod-resources"));
        try (Stream<Path> files = Files.list(plugin)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.deleteIfExists(folder.resolve("pod-resources/kubelet.sock"));
        servers.add(serve(folder.resolve("pod-resources/kubelet.sock"), new PodResourcesListerGrpc.PodResourcesListerImplBase() {
            @Override
            public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> answer) {
                answer.onNext(held());
                answer.onCompleted();
            }
        }));
        servers.add(serve(plugin.resolve("kubelet.sock"), new RegistrationGrpc.RegistrationImplBase() {
            @Override
            public void register(RegisterRequest request, StreamObserver<Empty> answer) {
                // The list goes on after this call.
                Context.ROOT.run(() -> connect(request));
                answer.onNext(Empty.getDefaultInstance());
                answer.onCompleted();
            }
        }));
    }

    private Server serve(Path socket, BindableService service) throws IOException {
        return NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile())).channelType(EpollServerDomainSocketChannel.class).bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop).addService(service).build().start();
    }

    void stop() {
        servers.forEach(Server::shutdownNow);
        servers.clear();
        plugins.values().forEach(ManagedChannel::shutdownNow);
        plugins.clear();
        lists.clear();
    }

    private synchronized void connect(RegisterRequest request) {
        registered.add(request);
        ManagedChannel channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(folder.resolve("device-plugins").resolve(request.getEndpoint()).toFile())).eventLoopGroup(loop)
                .channelType(EpollDomainSocketChannel.class).usePlaintext().build();
        ManagedChannel before = plugins.put(request.getResourceName(), channel);
        if (before != null) {
            before.shutdownNow();
        }
        DevicePluginGrpc.newStub(channel).listAndWatch(Empty.getDefaultInstance(), new StreamObserver<>() {
            @Override
            public void onNext(ListAndWatchResponse list) {
                Map<String, Device> devices = new LinkedHashMap<>();
                list.getDevicesList().forEach(device -> devices.put(device.getID(), device));
                lists.put(request.getResourceName(), devices);
            }

            @Override
            public void onError(Throwable problem) {
                problems.add(request.getResourceName() + ": " + problem);
                onCompleted();
            }

            /// Not the list of a plugin that has registered since.
            @Override
            public void onCompleted() {
                if (plugins.get(request.getResourceName()) == channel) {
                    lists.remove(request.getResourceName());
                }
            }
        });
    }

    ManagedChannel channel(String resource) {
        return plugins.get(resource);
    }

    DevicePluginGrpc.DevicePluginBlockingStub stub(String resource) {
        return DevicePluginGrpc.newBlockingStub(plugins.get(resource)).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    Map<String, Device> list(String resource) {
        return lists.getOrDefault(resource, Map.of());
    }

    long healthy(String resource) {
        return list(resource).values().stream().filter(device -> device.getHealth().equals("Healthy")).count();
    }

    /// Gives a container units, in the order of the resources: preference, then allocation, for each alone.
    Map<String, ContainerAllocateResponse> admit(String container, Map<String, Integer> resources) {
        Map<String, ContainerAllocateResponse> answers = new LinkedHashMap<>();
        resources.forEach((resource, size) -> {
            List<String> units = prefer(resource, size);
            answers.put(resource, allocate(resource, units));
            hold(container, resource, units);
        });
        return answers;
    }

    List<String> prefer(String resource, int size) {
        Set<String> free = new HashSet<>();
        list(resource).forEach((id, device) -> {
            if (device.getHealth().equals("Healthy") && !taken.getOrDefault(resource, Map.of()).containsKey(id)) {
                free.add(id);
            }
        });
        return List.copyOf(stub(resource).getPreferredAllocation(PreferredAllocationRequest.newBuilder()
                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder().addAllAvailableDeviceIds(free).setAllocationSize(size)).build())
                .getContainerResponses(0).getDeviceIdsList());
    }

    ContainerAllocateResponse allocate(String resource, Collection<String> units) {
        return stub(resource).allocate(AllocateRequest.newBuilder().addContainerRequests(ContainerAllocateRequest.newBuilder().addAllDeviceIds(units)).build()).getContainerResponses(0);
    }

    synchronized void hold(String container, String resource, List<String> units) {
        units.forEach(unit -> taken.computeIfAbsent(resource, added -> new ConcurrentHashMap<>()).put(unit, container));
        containers.computeIfAbsent(container, added -> new HashMap<>()).put(resource, List.copyOf(units));
    }

    /// Before a container starts, for each resource.
    void preStart(String container) {
        Map<String, List<String>> units;
        synchronized (this) {
            units = containers.get(container);
        }
        units.forEach(this::preStart);
    }

    void preStart(String resource, Collection<String> units) {
        stub(resource).preStartContainer(PreStartContainerRequest.newBuilder().addAllDeviceIds(units).build());
    }

    synchronized void end(String container) {
        containers.remove(container);
        taken.values().forEach(units -> units.values().removeIf(container::equals));
    }

    /// Containers are `NAMESPACE/POD/CONTAINER`.
    private synchronized ListPodResourcesResponse held() {
        ListPodResourcesResponse.Builder all = ListPodResourcesResponse.newBuilder();
        containers.forEach((name, resources) -> {
            String[] words = name.split("/");
            ContainerResources.Builder container = ContainerResources.newBuilder().setName(words[2]);
            resources.forEach((resource, units) -> container.addDevices(ContainerDevices.newBuilder().setResourceName(resource).addAllDeviceIds(units)));
            container.addDevices(ContainerDevices.newBuilder().setResourceName("example.com/other").addDeviceIds("x"));
            all.addPodResources(PodResources.newBuilder().setNamespace(words[0]).setName(words[1]).addContainers(container));
        });
        return all.build();
    }

    @Override
    public void close() {
        stop();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
