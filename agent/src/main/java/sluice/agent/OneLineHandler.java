package sluice.agent;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.charset.StandardCharsets;
import sluice.region.SluiceException;

/// Answers one line of a process that registers, no more often than it may ask, and hangs up.
abstract class OneLineHandler extends SimpleChannelInboundHandler<String> {
    private static final int REASON_LENGTH = 200;

    private final Peers peers;
    protected final RegisteringPeer peer;
    private boolean answered;

    OneLineHandler(Peers peers, RegisteringPeer peer) {
        this.peers = peers;
        this.peer = peer;
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext context, String line) {
        if (answered) {
            return;
        }
        answered = true;
        String answer;
        try {
            if (!peers.ask(peer.key(), System.nanoTime())) {
                throw new SluiceException("too many requests; wait a while");
            }
            answer = answer(context, line);
        } catch (SluiceException e) {
            String reason = e.getMessage().replaceAll("[^ -~]", "?");
            answer = refusal(reason.length() <= REASON_LENGTH ? reason : reason.substring(0, REASON_LENGTH));
        }
        context.writeAndFlush(Unpooled.copiedBuffer(answer, StandardCharsets.US_ASCII)).addListener(ChannelFutureListener.CLOSE);
    }

    /// What to say. Descriptors that go before it are written here.
    protected abstract String answer(ChannelHandlerContext context, String line);

    protected abstract String refusal(String reason);

    /// Too long a line, or a client that went away: nobody to tell.
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
