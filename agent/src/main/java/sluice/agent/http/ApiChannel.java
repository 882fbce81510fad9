package sluice.agent.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The handlers of every connection: identify the caller, check for room, then one request after the other, each with a deadline and a
/// bounded size.
final class ApiChannel extends ChannelInitializer<Channel> implements AutoCloseable {
    private final Routes routes;
    private final Access access;
    private final HttpLimits limits;
    private final Peers peers;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    ApiChannel(Routes routes, Access access, HttpLimits limits) {
        this.routes = routes;
        this.access = access;
        this.limits = limits;
        peers = new Peers(limits);
    }

    @Override
    protected void initChannel(Channel channel) throws IOException {
        Optional<Access.Peer> peer = peer(channel);
        Optional<Peers.Connection> taken = peers.connect(way(peer), peer.map(Access.Peer::uid).orElse(Caller.UNKNOWN), channel::close, System.nanoTime());
        if (taken.isEmpty()) {
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> taken.get().disconnect(System.nanoTime()));
        channel.pipeline()
                .addLast(new RequestDeadline(limits.requestTime()))
                .addLast(new HttpServerCodec(new HttpDecoderConfig().setMaxInitialLineLength(HttpLimits.LINE_BYTES)
                        .setMaxHeaderSize(HttpLimits.HEADER_BYTES)))
                .addLast(new HttpObjectAggregator(HttpLimits.BODY_BYTES, true))
                .addLast(new FlowControlHandler())
                .addLast(new ChunkedWriteHandler())
                .addLast(new ApiHandler(routes, access, peer, taken.get(), limits, threads));
    }

    /// The agent refuses a user that it does not serve, at no cost to the users that it serves.
    private WayIn way(Optional<Access.Peer> peer) {
        try {
            return peer.isEmpty() ? WayIn.PORT : WayIn.of(access.caller(peer, Map.of()));
        } catch (Refusal e) {
            return WayIn.USERS;
        }
    }

    private static Optional<Access.Peer> peer(Channel channel) throws IOException {
        if (!(channel instanceof EpollDomainSocketChannel local)) {
            return Optional.empty();
        }
        PeerCredentials peer = local.peerCredentials();
        return Optional.of(new Access.Peer(Integer.toUnsignedLong(peer.uid()), peer.pid()));
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
