package sluice.agent.registration;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import sluice.agent.http.RequestDeadline;
import sluice.agent.os.RegisteringPeer;
import sluice.region.place.SluiceException;

/// The handlers of a connection with one line from a process that registers. The kernel identifies the process; descriptors that it sends
/// are not accepted.
public final class RegistrationChannel extends ChannelInitializer<Channel> {
    /// In which a client must send its line.
    private static final Duration REQUEST_TIME = Duration.ofSeconds(2);

    private final int lineBytes;
    private final OneLineProtocol protocol;
    private final RequestQueue queue = new RequestQueue(RequestQueue.Capacity.STANDARD);

    /// @param lineBytes how long a request may be
    public RegistrationChannel(int lineBytes, OneLineProtocol protocol) {
        this.lineBytes = lineBytes;
        this.protocol = protocol;
    }

    @Override
    protected void initChannel(Channel channel) throws IOException {
        PeerCredentials credentials = ((EpollDomainSocketChannel) channel).peerCredentials();
        RegisteringPeer peer;
        try {
            peer = RegisteringPeer.of(Integer.toUnsignedLong(credentials.uid()), credentials.pid());
        } catch (SluiceException e) {
            OneLineHandler.hangUp(channel, protocol.refusal(OneLineHandler.printable(e.getMessage())));
            return;
        }
        if (!queue.connect(peer.key(), System.nanoTime())) {
            OneLineHandler.hangUp(channel, protocol.busy(queue.againMillis()));
            return;
        }
        channel.closeFuture().addListener(closed -> queue.disconnect(peer.key(), System.nanoTime()));
        channel.pipeline()
                .addLast(new RequestDeadline(REQUEST_TIME))
                .addLast(new LineBasedFrameDecoder(lineBytes, true, true))
                .addLast(new StringDecoder(StandardCharsets.ISO_8859_1))
                .addLast(new OneLineHandler(queue, peer, protocol));
    }
}
