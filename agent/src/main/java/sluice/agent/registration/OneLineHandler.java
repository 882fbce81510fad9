package sluice.agent.registration;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.charset.StandardCharsets;
import sluice.agent.http.RequestDeadline;
import sluice.agent.os.RegisteringPeer;
import sluice.region.place.SluiceException;

/// Answers one line of a process that registers, when its turn has come, and closes the connection.
final class OneLineHandler extends SimpleChannelInboundHandler<String> {
    private static final int REASON_LENGTH = 200;

    private final RequestQueue queue;
    private final RegisteringPeer peer;
    private final OneLineProtocol protocol;
    private boolean asked;

    OneLineHandler(RequestQueue queue, RegisteringPeer peer, OneLineProtocol protocol) {
        this.queue = queue;
        this.peer = peer;
        this.protocol = protocol;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, String line) {
        if (!asked) {
            asked = true;
            context.pipeline().get(RequestDeadline.class).on(RequestDeadline.Phase.WORKING, context);
            queue.add(peer.key(), () -> answer(context, line), context.executor());
        }
    }

    private void answer(ChannelHandlerContext context, String line) {
        if (!context.channel().isActive()) {
            return;
        }
        String answer;
        try {
            answer = protocol.answer(context, peer, line);
        } catch (SluiceException e) {
            answer = protocol.refusal(printable(e.getMessage()));
        } catch (RuntimeException e) {
            context.close();
            return;
        }
        context.writeAndFlush(bytes(answer)).addListener(ChannelFutureListener.CLOSE);
    }

    /// Answers a process without waiting for its line, and closes the connection.
    static void hangUp(Channel channel, String answer) {
        channel.eventLoop().execute(() -> channel.writeAndFlush(bytes(answer)).addListener(ChannelFutureListener.CLOSE));
    }

    static String printable(String reason) {
        String text = reason.replaceAll("[^ -~]", "?");
        return text.length() <= REASON_LENGTH ? text : text.substring(0, REASON_LENGTH);
    }

    private static ByteBuf bytes(String answer) {
        return Unpooled.copiedBuffer(answer, StandardCharsets.US_ASCII);
    }

    /// The line is too long, or the client is gone: closes without an answer.
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
