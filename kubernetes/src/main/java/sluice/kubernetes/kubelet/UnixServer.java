package sluice.kubernetes.kubelet;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import sluice.region.place.SluiceException;

/// gRPC on a Unix socket, for root alone.
public final class UnixServer implements AutoCloseable {
    private static final int PATH_BYTES = 107;
    private static final int MESSAGE_BYTES = 1 << 20;
    private static final int SECONDS_TO_FINISH = 5;
    private static final int CALLS_PER_CONNECTION = 128;

    static {
        NettyLog.quieten();
    }

    private final Path socket;
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final Server server;
    private Object inode;

    public UnixServer(Path socket, List<ServerServiceDefinition> services) {
        this.socket = socket;
        if (socket.toString().length() > PATH_BYTES) {
            throw new SluiceException("the path of the socket " + socket + " is too long; at most " + PATH_BYTES + " bytes fit");
        }
        NettyServerBuilder builder = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile())).channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop).workerEventLoopGroup(loop).executor(workers).maxInboundMessageSize(MESSAGE_BYTES)
                .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION);
        services.forEach(builder::addService);
        try {
            Files.createDirectories(socket.getParent());
            Files.deleteIfExists(socket);
            server = builder.build().start();
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            inode = inode();
        } catch (IOException e) {
            close(null);
            throw new SluiceException("cannot listen on " + socket + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// Whether clients find this server by its path.
    boolean isThere() {
        try {
            return inode().equals(inode);
        } catch (IOException e) {
            return false;
        }
    }

    private Object inode() throws IOException {
        return Files.getAttribute(socket, "unix:ino");
    }

    /// Calls that came already get their answers.
    private static void finish(Server running) {
        try {
            if (!running.shutdown().awaitTermination(SECONDS_TO_FINISH, TimeUnit.SECONDS)) {
                running.shutdownNow().awaitTermination(1, TimeUnit.SECONDS); // streams that are still open end in the workers
            }
        } catch (InterruptedException e) {
            running.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        close(server);
    }

    private void close(Server running) {
        if (running != null) {
            finish(running);
        }
        workers.shutdown();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        try {
            if (isThere()) {
                Files.deleteIfExists(socket);
            }
        } catch (IOException e) {
            // The next one replaces it.
        }
    }
}
