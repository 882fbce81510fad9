package sluice.agent;

import io.netty.channel.ChannelHandlerContext;
import sluice.region.SluiceException;

/// Answers `CGROUP ALNAIR_ID` with the two bytes `ok`, or with the text of an error.
final class AlnairHandler extends OneLineHandler {
    /// The longest path, and an id.
    static final int LINE_BYTES = 4096 + 128;

    private final AlnairWorkspaces workspaces;

    AlnairHandler(AlnairWorkspaces workspaces, Peers peers, RegisteringPeer peer) {
        super(peers, peer);
        this.workspaces = workspaces;
    }

    @Override
    protected String answer(ChannelHandlerContext context, String line) {
        int space = line.lastIndexOf(' ');
        if (space < 0) {
            throw new SluiceException("this is no request; write a cgroup, a space and an ALNAIR_ID");
        }
        workspaces.register(peer, line.substring(0, space), line.substring(space + 1));
        return "ok";
    }

    @Override
    protected String refusal(String reason) {
        return reason;
    }
}
