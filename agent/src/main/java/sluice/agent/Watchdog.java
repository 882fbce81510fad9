package sluice.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;

/// Tells systemd that the agent is ready, and then, as often as systemd asks for it, that all parts have worked lately. Without these
/// messages systemd kills the agent and starts it again.
final class Watchdog implements AutoCloseable {
    private static final String SOCKET = "NOTIFY_SOCKET";
    private static final String MICROS = "WATCHDOG_USEC";
    private static final long LEAST_MILLIS = 10;
    private static final long WAIT_MILLIS = 1000;

    private final MultiThreadIoEventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("systemd", true), EpollIoHandler.newFactory());
    private final DomainSocketAddress systemd;
    private final Optional<Clock> clock;

    private Watchdog(String socket, Optional<Long> periodMillis, AgentContext context) {
        systemd = new DomainSocketAddress(socket.startsWith("@") ? "\0" + socket.substring(1) : socket);
        tell("READY=1");
        clock = periodMillis.map(period -> context.clock("watchdog", period, () -> ping(context)));
    }

    /// A name that systemd never sends.
    private static final class Silent extends SimpleChannelInboundHandler<Object> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, Object message) {}
    }

    /// Nothing without systemd.
    static Optional<Watchdog> start(Map<String, String> environment, AgentContext context) {
        Optional<Long> period = Optional.ofNullable(environment.get(MICROS)).map(Long::parseLong).map(micros -> Math.max(LEAST_MILLIS, micros / 1000 / 3));
        return Optional.ofNullable(environment.get(SOCKET)).filter(socket -> !socket.isEmpty()).map(socket -> new Watchdog(socket, period, context));
    }

    private void ping(AgentContext context) {
        var late = context.health().late();
        tell(late.isEmpty() ? "WATCHDOG=1\nSTATUS=ok" : "STATUS=" + String.join("; ", late));
    }

    /// A connection for each message: systemd may have made a new socket.
    private void tell(String text) {
        ChannelFuture connected = new Bootstrap().group(loop).channel(EpollDomainDatagramChannel.class).handler(new Silent()).connect(systemd);
        connected.awaitUninterruptibly(WAIT_MILLIS);
        if (connected.isSuccess()) {
            connected.channel().writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8)).awaitUninterruptibly(WAIT_MILLIS);
        }
        connected.channel().close().awaitUninterruptibly(WAIT_MILLIS);
    }

    @Override
    public void close() {
        clock.ifPresent(Clock::close);
        tell("STOPPING=1");
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
