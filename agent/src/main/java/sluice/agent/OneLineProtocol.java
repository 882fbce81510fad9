package sluice.agent;

import io.netty.channel.ChannelHandlerContext;

/// What is made of the one line that a process sends.
interface OneLineProtocol {
    /// What to say. Descriptors that go before it are written here.
    String answer(ChannelHandlerContext context, RegisteringPeer peer, String line);

    String refusal(String reason);

    /// Says when to come again.
    String busy(int millis);
}
