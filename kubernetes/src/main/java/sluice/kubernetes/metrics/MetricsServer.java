package sluice.kubernetes.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.node.NodeAgent;
import sluice.region.place.SluiceException;

/// Answers `GET /metrics` on one port.
public final class MetricsServer implements AutoCloseable {
    /// Pages that are made at the same time.
    private static final int AT_ONCE = 4;
    private static final int PATIENCE_SECONDS = 5;
    private static final int BACKLOG = 32;

    static {
        boundSlowClients();
    }

    /// A client that is slow, or opens many connections, must not keep others out of a server of the JDK. It reads these once, so they are to be set before the first server.
    public static void boundSlowClients() {
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxRspTime", "30");
        System.setProperty("sun.net.httpserver.idleInterval", "10");
        System.setProperty("jdk.httpserver.maxConnections", "512");
    }

    private final HttpServer server;
    private final NodeAgent agent;
    private final String names;
    private final Optional<MetricsAccess> access;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore free = new Semaphore(AT_ONCE);
    private final PrintStream log;

    /// Over TLS, for readers that `access` lets in.
    public MetricsServer(int port, NodeAgent agent, MetricsKeys keys, MetricsAccess access, PrintStream log) {
        this(port, agent, "", Optional.of(keys), Optional.of(access), log);
    }

    /// For everybody, without TLS, as the exporter does whose names they are.
    public MetricsServer(int port, NodeAgent agent, String names, PrintStream log) {
        this(port, agent, names, Optional.empty(), Optional.empty(), log);
    }

    private MetricsServer(int port, NodeAgent agent, String names, Optional<MetricsKeys> keys, Optional<MetricsAccess> access, PrintStream log) {
        this.agent = agent;
        this.names = names;
        this.access = access;
        this.log = log;
        try {
            InetSocketAddress address = new InetSocketAddress(port);
            if (keys.isPresent()) {
                HttpsServer secure = HttpsServer.create(address, BACKLOG);
                secure.setHttpsConfigurator(new HttpsConfigurator(keys.get().context()));
                server = secure;
            } else {
                server = HttpServer.create(address, BACKLOG);
            }
        } catch (IOException e) {
            throw new SluiceException("cannot listen on port " + port + " (" + SluiceException.reason(e) + ")", e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals("/metrics")) {
                send(exchange, 404, "there is only /metrics\n".getBytes(StandardCharsets.UTF_8));
            } else if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
                send(exchange, 405, "only GET\n".getBytes(StandardCharsets.UTF_8));
            } else {
                MetricsAccess.Verdict verdict = access.map(checks -> checks.judge(exchange.getRequestHeaders().getFirst("Authorization"))).orElse(MetricsAccess.Verdict.ALLOWED);
                if (verdict != MetricsAccess.Verdict.ALLOWED) {
                    send(exchange, verdict.status(), (verdict.text() + "\n").getBytes(StandardCharsets.UTF_8));
                } else if (!isFree()) {
                    send(exchange, 503, "busy\n".getBytes(StandardCharsets.UTF_8));
                } else {
                    page(exchange);
                }
            }
        } catch (RuntimeException e) {
            log.println("sluice-kubernetes: metrics: " + e);
        }
    }

    private boolean isFree() {
        try {
            return free.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void page(HttpExchange exchange) throws IOException {
        byte[] page;
        try {
            page = agent.metrics(names);
        } catch (SluiceException e) {
            send(exchange, 503, (e.getMessage() + "\n").getBytes(StandardCharsets.UTF_8));
            return;
        } finally {
            free.release(); // a reader that is slow holds no place
        }
        exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        send(exchange, 200, page);
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        if (status == 401) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
        }
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, head ? -1 : body.length);
        if (!head) {
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
