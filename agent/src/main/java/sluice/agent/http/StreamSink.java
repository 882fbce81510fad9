package sluice.agent.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedStream;
import java.io.ByteArrayInputStream;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// The channel of a stream to its client. It is closed if the client reads nothing for a while, or has too much to read.
final class StreamSink implements Answer.Sink {
    private static final int PIECE_BYTES = 16 * 1024;
    private static final int MOST_WAITING = 1024;

    private final ChannelHandlerContext context;
    private final HttpLimits limits;
    private final Peers.Connection connection;
    private final AtomicBoolean offered = new AtomicBoolean();
    private final AtomicInteger waiting = new AtomicInteger();

    StreamSink(ChannelHandlerContext context, HttpLimits limits, Peers.Connection connection) {
        this.context = context;
        this.limits = limits;
        this.connection = connection;
    }

    @Override
    public boolean offer(byte[] bytes) {
        if (!offered.compareAndSet(false, true)) {
            return false;
        }
        write(bytes, () -> offered.set(false));
        return true;
    }

    @Override
    public void send(byte[] bytes) {
        if (waiting.incrementAndGet() > MOST_WAITING) {
            context.close();
            return;
        }
        write(bytes, waiting::decrementAndGet);
    }

    private void write(byte[] bytes, Runnable done) {
        Optional<Runnable> room = connection.reserve(bytes.length);
        if (room.isEmpty()) {
            context.close();
            return;
        }
        if (context.executor().isShuttingDown()) {
            room.get().run();
            return;
        }
        context.executor().execute(() -> {
            Future<?> late = context.executor().schedule(() -> context.close(), limits.writeTime().toMillis(), TimeUnit.MILLISECONDS);
            context.writeAndFlush(new ChunkedStream(new ByteArrayInputStream(bytes), PIECE_BYTES)).addListener(sent -> {
                late.cancel(false);
                room.get().run();
                done.run();
            });
        });
    }

    @Override
    public void whenClosed(Runnable action) {
        context.channel().closeFuture().addListener(closed -> action.run());
    }
}
