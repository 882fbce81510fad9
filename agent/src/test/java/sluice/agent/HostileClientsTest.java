package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;

/// Clients that mean harm come by the port; an honest one is served on the Unix socket meanwhile.
@Timeout(120)
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the agent's HTTP interface")
class HostileClientsTest {
    private static final int CONNECTIONS_PER_USER = 16;
    private static final int REQUESTS_PER_SECOND = 50;
    private static final Duration REQUEST_TIME = Duration.ofSeconds(2);

    @TempDir
    private Path folder;

    private int port;
    private RunningAgent agent;

    @BeforeEach
    void start() throws Exception {
        port = FreePort.choose();
        agent = new RunningAgent(folder, "port = " + port, "connections-per-user = " + CONNECTIONS_PER_USER,
                "requests-per-second = " + REQUESTS_PER_SECOND, "request-time = " + REQUEST_TIME.toMillis() + "ms");
        agent.tenantOnGpu("train");
    }

    @AfterEach
    void stop() {
        assertThat(agent.client().get("/v1/tenants/train").status()).as("an honest client").isEqualTo(200);
        agent.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private String head() {
        return " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n";
    }

    /// What comes back until the agent hangs up.
    private String send(byte[] bytes) throws IOException {
        try (Socket socket = connect()) {
            try {
                socket.getOutputStream().write(bytes);
            } catch (IOException e) {
                // It hung up already.
            }
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /v1/machine\r\n\r\n", "\r\n\r\n\r\n\r\n",
        "GET /v1/%zz HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET /v1/tenants/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "GET /v1/tenants/%00 HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET //v1//machine HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "GET /v1/history?from=99999999999999999999 HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET /v1/history?step=0 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "GET /v1/history?from=-9223372036854775808 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "PATCH /v1/tenants/train/limits HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n",
        "PATCH /v1/tenants/train/limits HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "PATCH /v1/tenants/train/limits HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999\r\n\r\n{}",
        "POST /v1/machine HTTP/1.1\r\nHost: HOST\r\nExpect: nonsense\r\nContent-Length: 2\r\n\r\n{}",
        "GET /v1/events HTTP/1.1\r\nHost: HOST\r\nLast-Event-ID: x\r\nConnection: close\r\n\r\n",
        "CONNECT evil.example:80 HTTP/1.1\r\nHost: HOST\r\n\r\n", "GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n"})
    void shouldRefuseWhatMakesNoSense(String request) throws Exception {
        String answer = send(request.replace("HOST", "127.0.0.1:" + port).getBytes(StandardCharsets.ISO_8859_1));

        assertThat(answer).doesNotStartWith("HTTP/1.1 2").doesNotStartWith("HTTP/1.1 5");
    }

    @Test
    void shouldSurviveNoise() throws Exception {
        Random random = new Random(6);
        for (int round = 0; round < 10; round++) {
            byte[] noise = new byte[random.nextInt(20_000)];
            random.nextBytes(noise);
            send(noise);
        }
    }

    @Test
    void shouldRefuseWhatIsTooLarge() throws Exception {
        assertThat(send(("GET /" + "x".repeat(100_000) + head() + "\r\n").getBytes(StandardCharsets.UTF_8))).doesNotStartWith("HTTP/1.1 2");
        assertThat(send(("GET /v1/machine" + head() + "X: y\r\n".repeat(20_000) + "\r\n").getBytes(StandardCharsets.UTF_8))).doesNotStartWith("HTTP/1.1 2");
        assertThat(send(("PATCH /v1/tenants/train/limits" + head() + "Content-Length: 1000000\r\n\r\n" + " ".repeat(1_000_000))
                .getBytes(StandardCharsets.UTF_8))).doesNotStartWith("HTTP/1.1 2");
        assertThat(send(("PATCH /v1/tenants/train/limits" + head() + "Transfer-Encoding: chunked\r\n\r\n" + ("1000\r\n" + " ".repeat(4096) + "\r\n").repeat(200))
                .getBytes(StandardCharsets.UTF_8))).doesNotStartWith("HTTP/1.1 2");
    }

    @Test
    void shouldNotWaitForAClientThatTrickles() throws Exception {
        try (Socket socket = connect()) {
            long began = System.nanoTime();
            boolean open = true;
            for (byte next : ("GET /v1/machine" + head() + "X: " + "y".repeat(1000)).getBytes(StandardCharsets.UTF_8)) {
                try {
                    socket.getOutputStream().write(next);
                    Thread.sleep(50);
                    open = socket.getInputStream().available() == 0 || socket.getInputStream().read() >= 0;
                } catch (IOException e) {
                    open = false;
                }
                if (!open) {
                    break;
                }
            }
            assertThat(open).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(REQUEST_TIME.plusSeconds(20));
        }
    }

    @Test
    void shouldCutOffAClientThatNeverReads() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        for (int client = 0; client < CONNECTIONS_PER_USER; client++) {
            Socket socket = connect();
            sockets.add(socket);
            socket.setReceiveBufferSize(1024);
            socket.getOutputStream().write(("GET /v1/machine" + head() + "\r\n").repeat(50).getBytes(StandardCharsets.UTF_8));
        }
        assertThat(agent.client().get("/v1/machine").status()).isEqualTo(200);
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's HTTP interface")
    void shouldKeepNoMoreConnectionsOfOneUserThanItMay() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        for (int client = 0; client < 4 * CONNECTIONS_PER_USER; client++) {
            sockets.add(connect());
        }
        assertThat(agent.client().get("/healthz").status()).isEqualTo(200);
        int closed = 0;
        for (Socket socket : sockets.subList(0, 3 * CONNECTIONS_PER_USER)) {
            try {
                closed += socket.getInputStream().read() < 0 ? 1 : 0;
            } catch (IOException e) {
                closed++;
            }
        }
        assertThat(closed).as("the oldest ones, which said nothing").isEqualTo(3 * CONNECTIONS_PER_USER);
        for (Socket socket : sockets) {
            socket.close();
        }
        assertThat(answerOnceItIsSeenThatTheyAreGone()).startsWith("HTTP/1.1 200 ");
    }

    private String answerOnceItIsSeenThatTheyAreGone() throws Exception {
        String answer = "";
        for (int attempt = 0; attempt < 100 && answer.isEmpty(); attempt++) {
            answer = send(("GET /healthz" + head() + "Connection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            Thread.sleep(20);
        }
        return answer;
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's HTTP interface")
    void shouldAnswerNoMoreOftenThanItMust() throws Exception {
        int requests = 20 * REQUESTS_PER_SECOND;
        String answers = send(("GET /healthz" + head() + "\r\n").repeat(requests).getBytes(StandardCharsets.UTF_8));

        assertThat(answers).contains("HTTP/1.1 429 ", "retry-after: 1");
        assertThat(agent.client().get("/v1/machine").status()).isEqualTo(200);
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's HTTP interface")
    void shouldKeepItsMemory() throws Exception {
        shouldSurviveNoise();
        long before = used();
        for (int round = 0; round < 5; round++) {
            shouldSurviveNoise();
            shouldCutOffAClientThatNeverReads();
        }
        assertThat(used() - before).isLessThan(16L << 20);
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void shouldStayAliveWhenListenersVanish() throws Exception {
        for (int client = 0; client < 8; client++) {
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                channel.connect(UnixDomainSocketAddress.of(agent.socket()));
                channel.write(ByteBuffer.wrap(("GET /v1/events" + head() + "\r\n").getBytes(StandardCharsets.UTF_8)));
                channel.read(ByteBuffer.allocate(100));
            }
        }
        agent.tenant("another");
        assertThat(agent.client().get("/v1/machine").text()).contains("another");
    }
}
