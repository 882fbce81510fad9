package sluice.agent.registration;

import io.netty.channel.ChannelHandlerContext;
import sluice.agent.os.RegisteringPeer;

/// The handling of the one line that a process sends.
public interface OneLineProtocol {
    /// The answer. Writes the descriptors that go before it.
    String answer(ChannelHandlerContext context, RegisteringPeer peer, String line);

    String refusal(String reason);

    /// The answer to a process that must ask again later.
    String busy(int millis);
}
