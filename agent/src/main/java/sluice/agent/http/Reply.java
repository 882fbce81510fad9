package sluice.agent.http;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.stream.ChunkedStream;
import io.netty.util.AttributeKey;
import java.io.ByteArrayInputStream;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Sends one answer to its client. Bodies are copied to the socket piece by piece as the client reads. So a slow client holds no more than
/// the array that it shares with others.
final class Reply {
    /// Set on a channel whose answer goes on until it is closed.
    static final AttributeKey<Boolean> STREAMS = AttributeKey.valueOf("sluice.streams");
    private static final int PIECE_BYTES = 16 * 1024;

    private final ChannelHandlerContext context;
    private final boolean head;
    private final HttpLimits limits;
    private final Peers.Connection connection;
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile Runnable whenBegun = () -> {};
    private boolean keepAlive;

    Reply(ChannelHandlerContext context, boolean head, boolean keepAlive, HttpLimits limits, Peers.Connection connection) {
        this.context = context;
        this.head = head;
        this.keepAlive = keepAlive;
        this.limits = limits;
        this.connection = connection;
    }

    /// No request of this connection is read after this one.
    Reply last() {
        keepAlive = false;
        return this;
    }

    /// The action follows the beginning of the answer, at once if it has begun.
    void whenBegun(Runnable action) {
        whenBegun = action;
        if (begun.get()) {
            action.run();
        }
    }

    /// No answer has come in time, so there will be none.
    void late() {
        last().send(Answer.error(HttpResponseStatus.SERVICE_UNAVAILABLE.code(), "the agent took too long; try again, and see /healthz"));
    }

    /// Only the first answer goes out.
    void send(Answer answer) {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        whenBegun.run();
        switch (answer) {
            case Answer.Whole whole -> context.executor().execute(() -> whole(whole));
            case Answer.Stream stream -> stream(stream);
        }
    }

    private void whole(Answer.Whole answer) {
        Optional<Runnable> room = connection.reserve(answer.body().length);
        if (room.isEmpty()) {
            context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.SERVICE_UNAVAILABLE))
                    .addListener(ChannelFutureListener.CLOSE);
            return;
        }
        DefaultHttpResponse response = response(answer.status(), answer.type());
        answer.headers().forEach((name, value) -> response.headers().set(name, value));
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        if (!keepAlive) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        var late = context.executor().schedule(() -> context.close(), limits.writeTime().toMillis(), TimeUnit.MILLISECONDS);
        context.write(response);
        (head || answer.body().length == 0
                ? context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
                : context.writeAndFlush(new HttpChunkedInput(new ChunkedStream(new ByteArrayInputStream(answer.body()), PIECE_BYTES))))
                .addListener(sent -> {
                    late.cancel(false);
                    room.get().run();
                    next(sent.isSuccess());
                });
    }

    private void next(boolean sent) {
        if (!sent || !keepAlive) {
            context.close();
            return;
        }
        ApiHandler.phase(context, RequestDeadline.Phase.WAITING);
        context.channel().config().setAutoRead(true);
        context.read();
    }

    /// The stream is started in the thread of the route; its bytes come after the head.
    private void stream(Answer.Stream answer) {
        context.executor().execute(() -> streamHead(answer.type()));
        if (head) {
            return;
        }
        try {
            answer.start().accept(new StreamSink(context, limits, connection));
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
    }

    /// Reads and drops further bytes of the client: only a read shows that the client has closed the connection.
    private void streamHead(String type) {
        DefaultHttpResponse response = response(200, type);
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        context.channel().attr(STREAMS).set(true);
        context.channel().config().setAutoRead(true);
        context.writeAndFlush(response).addListener(sent -> {
            if (head) {
                context.close();
            }
        });
    }

    private static DefaultHttpResponse response(int status, String type) {
        DefaultHttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
        HttpHeaders headers = response.headers();
        headers.set(HttpHeaderNames.CONTENT_TYPE, type);
        headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        headers.set("x-content-type-options", "nosniff");
        headers.set("x-frame-options", "DENY");
        headers.set("referrer-policy", "no-referrer");
        headers.set("cross-origin-resource-policy", "same-origin");
        return response;
    }
}
