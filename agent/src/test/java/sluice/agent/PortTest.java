package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The port of the loopback: everybody may look, the token may change, browsers are not led there by other sites.
@Timeout(60)
class PortTest {
    private static final String PATCH = "PATCH /v1/tenants/train/limits";
    private static final String BODY = "{\"memory\": \"1g\"}";

    @TempDir
    private Path folder;

    private int port;
    private RunningAgent agent;

    @BeforeEach
    void start() throws Exception {
        port = FreePort.choose();
        agent = new RunningAgent(folder, "port = " + port);
        agent.tenant("train");
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private String ask(String line, String host, String headers, String body) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write((line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers
                    + "Content-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String here() {
        return "127.0.0.1:" + port;
    }

    @Test
    void shouldAllowReadsAndRefuseChangesWithoutTheToken() throws Exception {
        assertThat(ask("GET /v1/machine", here(), "", "")).startsWith("HTTP/1.1 200 ");
        assertThat(ask(PATCH, here(), "", BODY)).startsWith("HTTP/1.1 401 ");
        assertThat(ask(PATCH, here(), "Authorization: Bearer " + "0".repeat(48) + "\r\n", BODY)).startsWith("HTTP/1.1 401 ");
    }

    @Test
    void shouldAllowChangesWithTheToken() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("state/token")))).isEqualTo("rw-------");
        assertThat(ask(PATCH, here(), "Authorization: Bearer " + agent.token() + "\r\n", BODY))
                .startsWith("HTTP/1.1 200 ").contains("\"memoryLimitBytes\":[1073741824");
    }

    @Test
    void shouldNotAnswerToOtherNames() throws Exception {
        assertThat(ask("GET /v1/machine", "evil.example:" + port, "", "")).startsWith("HTTP/1.1 403 ");
        assertThat(ask("GET /v1/machine", "127.0.0.1", "", "")).startsWith("HTTP/1.1 403 ");
        assertThat(ask("GET /v1/machine", here() + "\r\nHost: evil.example", "", "")).doesNotStartWith("HTTP/1.1 200 ");
    }

    @Test
    void shouldNotAnswerPagesOfOtherSites() throws Exception {
        String token = "Authorization: Bearer " + agent.token() + "\r\n";
        assertThat(ask(PATCH, here(), token + "Origin: http://evil.example\r\n", BODY)).startsWith("HTTP/1.1 403 ");
        assertThat(ask(PATCH, here(), token + "Origin: null\r\n", BODY)).startsWith("HTTP/1.1 403 ");
        assertThat(ask("GET /v1/machine", here(), "Sec-Fetch-Site: cross-site\r\n", "")).startsWith("HTTP/1.1 403 ");
        assertThat(ask("GET /v1/machine", here(), "Sec-Fetch-Site: same-site\r\n", "")).as("another port of this machine").startsWith("HTTP/1.1 403 ");
        assertThat(ask("GET /v1/machine", here(), "Sec-Fetch-Site: none\r\n", "")).as("typed by the user").startsWith("HTTP/1.1 200 ");
        assertThat(ask(PATCH, here(), token + "Origin: http://" + here() + "\r\nSec-Fetch-Site: same-origin\r\n", BODY)).startsWith("HTTP/1.1 200 ");
    }
}
