package sluice.agent.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import sluice.region.place.SluiceException;

/// Answers HTTP on a Unix socket, and on a port of the loopback if a port is given. One thread does all that can block on a client; each
/// route runs in a thread of its own.
public final class ApiServer implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final int LOW_WATER_BYTES = 16 * 1024;
    private static final int HIGH_WATER_BYTES = 64 * 1024;
    /// The kernel's buffer for a client that does not read; by default it grows to some MiB.
    private static final int SEND_BYTES = 256 * 1024;

    private final String thread;
    private final List<EventLoopGroup> loops = new ArrayList<>();
    private final ChannelInitializer<Channel> handlers;
    private final Runnable end;
    private final List<Channel> listening = new ArrayList<>();
    private Function<String, Runnable> pulses = name -> () -> {};
    private Path socket;
    private Object socketKey;

    public ApiServer(Routes routes, Access access, HttpLimits limits) {
        this("api", new ApiChannel(routes, access, limits));
    }

    private ApiServer(String thread, ApiChannel handlers) {
        this(thread, handlers, handlers::close);
    }

    /// For another protocol than HTTP.
    public ApiServer(String thread, ChannelInitializer<Channel> handlers) {
        this(thread, handlers, () -> {});
    }

    private ApiServer(String thread, ChannelInitializer<Channel> handlers, Runnable end) {
        this.thread = thread;
        this.handlers = handlers;
        this.end = end;
    }

    /// Each thread that listens from now on reports once a second that it works.
    ///
    /// @param pulses by the name of the thread
    public void pulses(Function<String, Runnable> pulses) {
        this.pulses = pulses;
    }

    /// Listens on a socket file. The file gets its name only when it is ready and has its mode. It replaces the file of an ended agent, but
    /// not of an agent that runs.
    public void listen(Path file, String mode) {
        if (isAnswered(file)) {
            throw new SluiceException("another agent listens on " + file + "; stop it, or choose another socket");
        }
        Path unfinished = file.resolveSibling("." + file.getFileName() + "." + ProcessHandle.current().pid());
        try {
            Files.deleteIfExists(unfinished);
            bind(server(thread).channel(EpollServerDomainSocketChannel.class), new DomainSocketAddress(unfinished.toFile()), file.toString());
            Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString(mode));
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            socket = file;
            socketKey = key(file);
        } catch (IOException e) {
            throw new SluiceException("cannot listen on " + file + " (" + e.getMessage() + "); check who owns the directory", e);
        }
    }

    /// A process listens there, even if it is stopped.
    private static boolean isAnswered(Path file) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(file));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /// Listens on a port of the loopback; 0 is any. @return the port
    public int listen(int port) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Channel channel = bind(server(thread + "-port").channel(EpollServerSocketChannel.class), address, "port " + port);
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private Channel bind(ServerBootstrap server, SocketAddress address, String place) {
        var bound = server.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new SluiceException("cannot listen on " + place + " (" + bound.cause().getMessage() + "); choose another, or see who has it");
        }
        listening.add(bound.channel());
        return bound.channel();
    }

    /// The port has its own thread, so that its clients cannot delay those of the socket.
    private ServerBootstrap server(String name) {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), EpollIoHandler.newFactory());
        loops.add(loop);
        loop.next().scheduleAtFixedRate(pulses.apply(name), 0, 1, TimeUnit.SECONDS);
        return new ServerBootstrap().group(loop)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.SO_SNDBUF, SEND_BYTES)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES))
                .childHandler(handlers);
    }

    @Override
    public void close() {
        listening.forEach(channel -> channel.close().awaitUninterruptibly());
        if (socket != null) {
            try {
                if (key(socket).equals(socketKey)) {
                    Files.deleteIfExists(socket);
                }
            } catch (IOException e) {
                // The next agent replaces it.
            }
        }
        loops.forEach(loop -> loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly());
        end.run();
    }
}
