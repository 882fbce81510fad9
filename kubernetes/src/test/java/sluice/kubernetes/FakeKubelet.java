package sluice.kubernetes;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.wire.Claim;
import sluice.kubernetes.wire.DRAPluginGrpc;
import sluice.kubernetes.wire.InfoRequest;
import sluice.kubernetes.wire.NodePrepareResourceResponse;
import sluice.kubernetes.wire.NodePrepareResourcesRequest;
import sluice.kubernetes.wire.NodeUnprepareResourcesRequest;
import sluice.kubernetes.wire.PluginInfo;
import sluice.kubernetes.wire.RegistrationGrpc;
import sluice.kubernetes.wire.RegistrationStatus;

/// Does with the sockets of a driver what kubelet does.
public final class FakeKubelet implements AutoCloseable {
    private static final int SECONDS = 20;

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final ManagedChannel registration;
    private final ManagedChannel driver;
    final PluginInfo info;

    /// Finds the driver by its registration socket, and tells it that it was taken.
    ///
    /// @param instance of the driver's pod
    public FakeKubelet(Path folder, String instance) {
        registration = channel(folder.resolve("plugins_registry/gpu.sluice.dev" + (instance.isEmpty() ? "" : "-" + instance) + "-reg.sock"));
        RegistrationGrpc.RegistrationBlockingStub stub = RegistrationGrpc.newBlockingStub(registration).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
        info = stub.getInfo(InfoRequest.getDefaultInstance());
        driver = channel(Path.of(info.getEndpoint()));
        stub.notifyRegistrationStatus(RegistrationStatus.newBuilder().setPluginRegistered(true).build());
    }

    private ManagedChannel channel(Path socket) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile())).eventLoopGroup(loop).channelType(EpollDomainSocketChannel.class).usePlaintext().build();
    }

    ManagedChannel driver() {
        return driver;
    }

    DRAPluginGrpc.DRAPluginBlockingStub stub() {
        return DRAPluginGrpc.newBlockingStub(driver).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    public static Claim claim(String namespace, String name, String uid) {
        return Claim.newBuilder().setNamespace(namespace).setName(name).setUid(uid).build();
    }

    public NodePrepareResourceResponse prepare(Claim claim) {
        return stub().nodePrepareResources(NodePrepareResourcesRequest.newBuilder().addClaims(claim).build()).getClaimsOrThrow(claim.getUid());
    }

    public String unprepare(Claim claim) {
        return stub().nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder().addClaims(claim).build()).getClaimsOrThrow(claim.getUid()).getError();
    }

    @Override
    public void close() {
        driver.shutdownNow();
        registration.shutdownNow();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
