package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.kubernetes.cluster.ClusterClient;

/// The requests of many pods at once.
@Timeout(60)
class ClusterClientTest {
    private static final int REQUESTS = 50;

    private HttpServer server;
    private ClusterClient client;
    private final Set<Integer> connections = ConcurrentHashMap.newKeySet();
    private CountDownLatch held = new CountDownLatch(0);

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), REQUESTS);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            connections.add(exchange.getRemoteAddress().getPort());
            held.countDown();
            try {
                held.await(5, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            byte[] answer = "{}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        client = new ClusterClient(URI.create("http://127.0.0.1:" + server.getAddress().getPort()), Optional.empty(), Optional.empty());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void askAtOnce() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService pods = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int pod = 0; pod < REQUESTS; pod++) {
                all.add(pods.submit(() -> client.get("/version")));
            }
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    /// Each costs a handshake of TLS in the node program and in the API server.
    @Test
    void shouldNotOpenAConnectionForEachOfManyClaims() throws Exception {
        askAtOnce();

        assertThat(connections).hasSizeLessThanOrEqualTo(8);
    }

    @Test
    void shouldNotWaitLongForAServerThatIsSlow() throws Exception {
        held = new CountDownLatch(REQUESTS); // nobody is answered before all have asked
        long begin = System.nanoTime();
        askAtOnce();

        assertThat(Math.toIntExact(held.getCount())).isZero();
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(5));
    }
}
