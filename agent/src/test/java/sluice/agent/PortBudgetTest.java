package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What peers without the token do at the port takes nothing from the token's holder, nor from the socket.
@Timeout(300)
class PortBudgetTest {
    private static final int MANY_TENANTS = 1000;
    private static final int STREAMS = 64;

    @TempDir
    private Path folder;

    private int port;
    private RunningAgent agent;
    private final List<Socket> sockets = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        port = FreePort.choose();
        agent = new RunningAgent(folder, "port = " + port);
    }

    @AfterEach
    void stop() throws Exception {
        for (Socket socket : sockets) {
            socket.close();
        }
        agent.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(1024);
        socket.setSoTimeout(20_000);
        socket.connect(new InetSocketAddress("127.0.0.1", port));
        return socket;
    }

    private String request(String path, String token) {
        return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nAuthorization: Bearer " + token + "\r\n";
    }

    private String holderAsks() throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write((request("/healthz", agent.token()) + "Connection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "hung up: " + e.getMessage();
        }
    }

    @Test
    void shouldServeTheHolderBesideIdleConnections() throws Exception {
        for (int idle = 0; idle < 300; idle++) {
            connect();
        }

        assertThat(holderAsks()).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void shouldServeTheHolderBesideWrongTokens() throws Exception {
        byte[] wrong = (request("/healthz", "0".repeat(48)) + "\r\n").repeat(20).getBytes(StandardCharsets.UTF_8);
        for (int client = 0; client < 40; client++) {
            try {
                connect().getOutputStream().write(wrong);
            } catch (IOException e) {
                // The agent hung up.
            }
        }
        Thread.sleep(300);

        for (int attempt = 0; attempt < 20; attempt++) {
            assertThat(holderAsks()).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void shouldServeTheSocketBesideStreamsThatNobodyReads() throws Exception {
        for (int tenant = 0; tenant < MANY_TENANTS; tenant++) {
            agent.tenantOnGpu("tenant" + tenant);
        }
        for (int client = 0; client < STREAMS; client++) {
            connect().getOutputStream().write(("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
        }
        Thread.sleep(3000);

        for (int attempt = 0; attempt < 5; attempt++) {
            assertThat(agent.client().get("/v1/machine").status()).isEqualTo(200);
        }
        assertThat(holderAsks()).startsWith("HTTP/1.1 200 ");
    }
}
