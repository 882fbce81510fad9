package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.Identity;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RuntimeDirectory;

/// An agent on a real socket, beside regions of this very process.
@Timeout(60)
class ApiTest {
    @TempDir
    private Path folder;

    private RuntimeDirectory directory;
    private AgentService agent;
    private AgentClient client;

    @BeforeEach
    void start() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        directory = new RuntimeDirectory(folder);
        agent = new AgentService(directory, List.of(), plan -> {}, System.err);
        client = new AgentClient(folder.resolve("agent.sock"));
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private void tenant(String name) {
        Region.create(directory, new RegionDraft(name, "python " + name + ".py", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g")));
    }

    @Test
    void shouldTellOfTheMachine() {
        tenant("train");

        AgentClient.Response machine = client.get("/v1/machine");

        assertThat(machine.status()).isEqualTo(200);
        assertThat(machine.text()).contains("\"tenant\":\"train\"", "\"gpus\":[", "\"boards\":[", "\"findings\":[]");
        assertThat(client.get("/v1/tenants/train").text()).startsWith("{\"tenant\":\"train\",\"running\":true");
        assertThat(client.get("/healthz").text()).isEqualTo("ok\n");
    }

    @Test
    void shouldSayWhatIsNotThere() {
        assertThat(client.get("/v1/tenants/nobody").status()).isEqualTo(404);
        assertThat(client.get("/v2").text()).isEqualTo("{\"error\":\"there is no '/v2'; GET /v1/openapi.json lists what there is\"}");
        assertThat(client.ask("DELETE", "/v1/machine", new byte[0]).head()).contains(" 405 ", "allow: GET");
    }

    @Test
    void shouldBeForItsUserOnly() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("agent.sock")))).isEqualTo("rw-------");
    }

    @Test
    void shouldTellOfEventsAtOnce() throws Exception {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(folder.resolve("agent.sock")));
            channel.write(ByteBuffer.wrap("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            BufferedReader lines = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
            assertThat(lines.readLine()).isEqualTo("HTTP/1.1 200 OK");
            await(lines, "event: machine");
            tenant("late");
            await(lines, "event: event");
            assertThat(lines.readLine()).isEqualTo("id: 1");
            assertThat(lines.readLine()).contains("\"kind\":\"began\",\"tenant\":\"late\"");
        }
    }

    private static void await(BufferedReader lines, String wanted) throws Exception {
        String line = lines.readLine();
        while (!line.equals(wanted)) {
            line = lines.readLine();
        }
    }
}
