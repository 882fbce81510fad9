package sluice.agent;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import sluice.region.SluiceException;

/// What a connection of a process that registers goes through, by one line. The kernel says which process it is; descriptors that
/// it sends are not taken.
final class RegistrationChannel extends ChannelInitializer<Channel> {
    private static final HttpLimits LIMITS = new HttpLimits(Duration.ofSeconds(2), Duration.ofSeconds(2), 256, 32, 50, 0);

    private final int lineBytes;
    private final Protocol protocol;
    private final Peers peers = new Peers(LIMITS);

    /// @param lineBytes how long a request may be
    RegistrationChannel(int lineBytes, Protocol protocol) {
        this.lineBytes = lineBytes;
        this.protocol = protocol;
    }

    /// What is made of a line.
    interface Protocol {
        ChannelHandler handler(Peers peers, RegisteringPeer peer);
    }

    @Override
    protected void initChannel(Channel channel) throws IOException {
        PeerCredentials credentials = ((EpollDomainSocketChannel) channel).peerCredentials();
        RegisteringPeer peer;
        try {
            peer = RegisteringPeer.of(Integer.toUnsignedLong(credentials.uid()), credentials.pid());
        } catch (SluiceException e) {
            channel.close();
            return;
        }
        if (!peers.connect(peer.key(), System.nanoTime())) {
            channel.close();
            return;
        }
        channel.closeFuture().addListener(closed -> peers.disconnect(peer.key(), System.nanoTime()));
        channel.pipeline()
                .addLast(new RequestDeadline(LIMITS.requestTime()))
                .addLast(new LineBasedFrameDecoder(lineBytes, true, true))
                .addLast(new StringDecoder(StandardCharsets.ISO_8859_1))
                .addLast(protocol.handler(peers, peer));
    }
}
