package sluice.agent;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.charset.StandardCharsets;
import sluice.region.SluiceException;

/// Answers one line `CGROUP ALNAIR_ID` with the two bytes `ok`, or with the text of an error, and hangs up.
final class AlnairHandler extends SimpleChannelInboundHandler<String> {
    /// The longest path, and an id.
    static final int LINE_BYTES = 4096 + 128;
    private static final int ERROR_LENGTH = 200;

    private final AlnairWorkspaces workspaces;
    private final Peers peers;
    private final RegisteringPeer peer;
    private boolean answered;

    AlnairHandler(AlnairWorkspaces workspaces, Peers peers, RegisteringPeer peer) {
        this.workspaces = workspaces;
        this.peers = peers;
        this.peer = peer;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, String line) {
        if (answered) {
            return;
        }
        answered = true;
        String answer;
        try {
            answer = answer(line);
        } catch (SluiceException e) {
            answer = e.getMessage().replaceAll("[^ -~]", "?");
        }
        String said = answer.length() <= ERROR_LENGTH ? answer : answer.substring(0, ERROR_LENGTH);
        context.writeAndFlush(Unpooled.copiedBuffer(said, StandardCharsets.US_ASCII)).addListener(ChannelFutureListener.CLOSE);
    }

    private String answer(String line) {
        if (!peers.ask(peer.key(), System.nanoTime())) {
            throw new SluiceException("too many requests; wait a while");
        }
        int space = line.lastIndexOf(' ');
        if (space < 0) {
            throw new SluiceException("this is no request; write a cgroup, a space and an ALNAIR_ID");
        }
        workspaces.register(peer, line.substring(0, space), line.substring(space + 1));
        return "ok";
    }

    /// Too long a line, or a client that went away: nobody to tell.
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
