package sluice.agent.alnair;

import io.netty.channel.ChannelHandlerContext;
import sluice.agent.os.RegisteringPeer;
import sluice.agent.registration.OneLineProtocol;
import sluice.region.place.SluiceException;

/// Answers `CGROUP ALNAIR_ID` with the two bytes `ok`, or with the text of an error.
final class AlnairHandler implements OneLineProtocol {
    /// The longest path, and an id.
    static final int LINE_BYTES = 4096 + 128;

    private final AlnairWorkspaces workspaces;

    AlnairHandler(AlnairWorkspaces workspaces) {
        this.workspaces = workspaces;
    }

    @Override
    public String answer(ChannelHandlerContext context, RegisteringPeer peer, String line) {
        int space = line.lastIndexOf(' ');
        if (space < 0) {
            throw new SluiceException("this is no request; write a cgroup, a space and an ALNAIR_ID");
        }
        workspaces.register(peer, line.substring(0, space), line.substring(space + 1));
        return "ok";
    }

    @Override
    public String refusal(String reason) {
        return reason;
    }

    @Override
    public String busy(int millis) {
        return refusal("too many requests; wait a while");
    }
}
