package sluice.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import sluice.kubernetes.metrics.MetricsServer;
import sluice.region.place.SluiceException;

/// Tells kubelet's probes how this program is: 200 or 503, and a word. Anybody in the pod network may ask; there is nothing to learn.
final class HealthPort implements AutoCloseable {
    private static final int BACKLOG = 32;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /// @param ready whether an older program may end
    /// @param alive whether this one need not be started again
    HealthPort(int port, BooleanSupplier ready, BooleanSupplier alive) {
        MetricsServer.boundSlowClients();
        try {
            server = HttpServer.create(new InetSocketAddress(port), BACKLOG);
        } catch (IOException e) {
            throw new SluiceException("cannot listen on port " + port + " (" + SluiceException.reason(e) + ")", e);
        }
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            switch (exchange.getRequestURI().getPath()) {
                case "/ready" -> send(exchange, ready.getAsBoolean() ? 200 : 503);
                case "/live" -> send(exchange, alive.getAsBoolean() ? 200 : 503);
                case null, default -> send(exchange, 404);
            }
        });
        server.start();
    }

    private static void send(HttpExchange exchange, int status) throws IOException {
        try (exchange) {
            byte[] text = (status == 200 ? "yes\n" : "no\n").getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, text.length);
            exchange.getResponseBody().write(text);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
