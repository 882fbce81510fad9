package sluice.agent.http;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Answers the requests of one connection, one after the other: while one is under way nothing more is read.
final class ApiHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final Routes routes;
    private final Access access;
    private final Optional<Access.Peer> peer;
    private final Peers.Connection connection;
    private final HttpLimits limits;
    private final ExecutorService threads;

    ApiHandler(Routes routes, Access access, Optional<Access.Peer> peer, Peers.Connection connection, HttpLimits limits,
            ExecutorService threads) {
        this.routes = routes;
        this.access = access;
        this.peer = peer;
        this.connection = connection;
        this.limits = limits;
        this.threads = threads;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest http) {
        if (context.channel().hasAttr(Reply.STREAMS)) {
            return;
        }
        phase(context, RequestDeadline.Phase.WORKING);
        context.channel().config().setAutoRead(false);
        boolean head = http.method().name().equals("HEAD");
        Reply reply = new Reply(context, head, HttpUtil.isKeepAlive(http), limits, connection);
        if (http.decoderResult().isFailure()) {
            reply.last().send(Answer.error(400, "this is no HTTP request that the agent understands"));
            return;
        }
        Map<String, String> headers = headers(http);
        Caller caller;
        try {
            caller = access.caller(peer, headers);
        } catch (Refusal e) {
            reply.last().send(connection.ask(peer.isEmpty() ? WayIn.PORT : WayIn.USERS, System.nanoTime()) ? Answer.error(e.status(), e.getMessage()) : tooMany());
            return;
        }
        if (!connection.ask(WayIn.of(caller), System.nanoTime())) {
            reply.send(tooMany());
            return;
        }
        byte[] body = ByteBufUtil.getBytes(http.content());
        String method = http.method().name();
        String uri = http.uri();
        try {
            threads.execute(() -> work(reply, () -> answer(method, uri, headers, body, caller)));
            var late = context.executor().schedule(() -> reply.late(), limits.requestTime().toMillis(), TimeUnit.MILLISECONDS);
            reply.whenBegun(() -> late.cancel(false));
        } catch (RejectedExecutionException e) {
            context.close();
        }
    }

    /// A few requests of a caller run at a time. A request that takes too long gets an error as its answer, and counts until it ends.
    private void work(Reply reply, Supplier<Answer> route) {
        try {
            Optional<Runnable> end = connection.begin();
            if (end.isEmpty()) {
                return;
            }
            try {
                reply.send(route.get());
            } finally {
                end.get().run();
            }
        } catch (InterruptedException | RejectedExecutionException e) {
            // The agent ends.
        }
    }

    private static Answer tooMany() {
        Answer.Whole error = (Answer.Whole) Answer.error(429, "too many requests; wait a second");
        return new Answer.Whole(error.status(), error.type(), error.body(), Map.of("retry-after", "1"));
    }

    private Answer answer(String method, String uri, Map<String, String> headers, byte[] body, Caller caller) {
        try {
            QueryStringDecoder decoder = new QueryStringDecoder(uri);
            Map<String, String> query = new HashMap<>();
            decoder.parameters().forEach((name, values) -> query.put(name, values.getFirst()));
            return routes.answer(new Request(method, decoder.path(), Map.of(), query, headers, body, caller));
        } catch (Refusal e) {
            return Answer.error(e.status(), e.getMessage());
        } catch (IllegalArgumentException e) {
            return Answer.error(400, "the address of the request cannot be read");
        }
    }

    private static Map<String, String> headers(FullHttpRequest http) {
        Map<String, String> headers = new HashMap<>();
        http.headers().forEach(header -> headers.merge(header.getKey().toLowerCase(Locale.ROOT), header.getValue(),
                (first, next) -> first.equals(next) ? first : first + ", " + next));
        return headers;
    }

    static void phase(ChannelHandlerContext context, RequestDeadline.Phase phase) {
        RequestDeadline deadline = context.pipeline().get(RequestDeadline.class);
        if (deadline != null) {
            deadline.on(phase, context.pipeline().context(deadline));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
