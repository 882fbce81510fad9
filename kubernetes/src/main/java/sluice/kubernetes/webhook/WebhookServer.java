package sluice.kubernetes.webhook;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import sluice.region.place.SluiceException;

/// HTTPS for the API server. Who does not know a path with a secret gets no answer but 404, before anything of the request is read.
final class WebhookServer implements AutoCloseable {
    private static final int BACKLOG = 128;
    /// An API server sends no more than 3 MiB of an object.
    private static final int MOST_BYTES = 4 << 20;
    /// JSON of short values takes many times its size in memory.
    private static final int MOST_VALUES = 200_000;
    private static final int AT_ONCE = 4;
    private static final int PATIENCE_SECONDS = 5;

    static {
        // Read by Java's server when it is first used: nobody holds a connection by not sending.
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxRspTime", "10");
        System.setProperty("sun.net.httpserver.idleInterval", "30");
        System.setProperty("jdk.httpserver.maxConnections", "512");
    }

    private final AdmissionReviews reviews;
    private final PrintStream log;
    private final HttpsServer server;
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore free = new Semaphore(AT_ONCE);
    private volatile Map<String, WebhookConfiguration.Kind> paths = Map.of();

    WebhookServer(int port, RotatingKey key, AdmissionReviews reviews, PrintStream log) {
        this.reviews = reviews;
        this.log = log;
        try {
            server = HttpsServer.create(new InetSocketAddress(port), BACKLOG);
        } catch (IOException e) {
            throw new SluiceException("cannot listen on port " + port + " (" + SluiceException.reason(e) + ")", e);
        }
        server.setHttpsConfigurator(new HttpsConfigurator(key.context()));
        server.setExecutor(workers);
        server.createContext("/", this::handle);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /// The paths to answer from now on.
    void answer(Map<String, WebhookConfiguration.Kind> known) {
        paths = Map.copyOf(known);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            WebhookConfiguration.Kind kind = path == null ? null : paths.get(path);
            if ("/ready".equals(path)) {
                send(exchange, paths.isEmpty() ? 503 : 200, paths.isEmpty() ? "not in the configuration yet\n" : "ready\n");
            } else if (kind == null) {
                send(exchange, 404, "");
            } else if (!"POST".equals(exchange.getRequestMethod())) {
                send(exchange, 405, "POST an AdmissionReview\n");
            } else if (!isFree()) {
                send(exchange, 503, "busy\n");
            } else {
                try {
                    review(exchange, kind);
                } finally {
                    free.release();
                }
            }
        } catch (RuntimeException e) {
            log.println("sluice-kubernetes: the webhook failed: " + e);
        }
    }

    /// Waits a while. A review that has to wait has not been read.
    private boolean isFree() {
        try {
            return free.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void review(HttpExchange exchange, WebhookConfiguration.Kind kind) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(MOST_BYTES + 1);
        if (body.length > MOST_BYTES) {
            drain(exchange.getRequestBody());
        }
        if (body.length > MOST_BYTES || values(body) > MOST_VALUES) {
            send(exchange, 413, "too large\n");
            return;
        }
        byte[] answer;
        try {
            answer = reviews.answer(body, kind == WebhookConfiguration.Kind.LABELLED);
        } catch (SluiceException e) {
            send(exchange, 400, "this is no AdmissionReview\n");
            return;
        } catch (RuntimeException e) {
            log.println("sluice-kubernetes: the webhook failed: " + e);
            send(exchange, 500, "the webhook failed\n");
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        send(exchange, 200, answer);
    }

    /// A client reads no answer before it has sent all. One that sends still more is cut off.
    private static void drain(InputStream body) throws IOException {
        byte[] buffer = new byte[8192];
        for (int left = MOST_BYTES; left > 0;) {
            int count = body.read(buffer);
            if (count < 0) {
                return;
            }
            left -= count;
        }
    }

    private static int values(byte[] json) {
        int count = 0;
        for (byte each : json) {
            if (each == ',' || each == '[' || each == '{' || each == ':') {
                count++;
            }
        }
        return count;
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        send(exchange, status, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        if (body.length > 0) {
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        workers.shutdown();
    }
}
