package sluice.agent.registration;

import io.netty.channel.ChannelHandlerContext;
import sluice.agent.os.RegisteringPeer;

/// What is made of the one line that a process sends.
public interface OneLineProtocol {
    /// What to say. Descriptors that go before it are written here.
    String answer(ChannelHandlerContext context, RegisteringPeer peer, String line);

    String refusal(String reason);

    /// Says when to come again.
    String busy(int millis);
}
