package sluice.agent.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// Closes a connection whose next request is not complete in time, even if its bytes arrive slowly.
public final class RequestDeadline extends ChannelDuplexHandler {
    /// Sent up the channel when a whole request has come, and when the answer to it has gone.
    public enum Phase { WORKING, WAITING }

    private final Duration time;
    private Future<?> deadline;

    public RequestDeadline(Duration time) {
        this.time = time;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
        await(context);
        super.channelActive(context);
    }

    private void await(ChannelHandlerContext context) {
        cancel();
        deadline = context.executor().schedule(() -> context.close(), time.toMillis(), TimeUnit.MILLISECONDS);
    }

    public void on(Phase phase, ChannelHandlerContext context) {
        if (phase == Phase.WAITING) {
            await(context);
        } else {
            cancel();
        }
    }

    private void cancel() {
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        cancel();
        super.channelInactive(context);
    }
}
