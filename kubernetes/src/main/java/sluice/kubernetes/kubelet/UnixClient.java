package sluice.kubernetes.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// Calls gRPC on Unix sockets of kubelet.
public final class UnixClient implements AutoCloseable {
    /// Kubelet answers with the devices of all pods of the node.
    private static final int MESSAGE_BYTES = 16 << 20;

    static {
        NettyLog.quieten();
    }

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

    /// It connects when it is used, and again when kubelet was started again.
    public ManagedChannel channel(Path socket) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile())).eventLoopGroup(loop).channelType(EpollDomainSocketChannel.class)
                .overrideAuthority("localhost").maxInboundMessageSize(MESSAGE_BYTES).disableRetry().usePlaintext().build();
    }

    @Override
    public void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
