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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.agent.http.Route;
import sluice.api.client.AgentClient;
import sluice.api.json.JsonTree;
import sluice.region.limits.Limit;

/// An agent on a real socket, beside regions of this very process.
@Timeout(60)
class ApiTest {
    @TempDir
    private Path folder;

    private RunningAgent agent;
    private AgentClient client;

    @BeforeEach
    void start() throws Exception {
        agent = new RunningAgent(folder);
        client = agent.client();
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    @Test
    void shouldTellOfTheMachine() {
        agent.tenant("train");

        AgentClient.Response machine = client.get("/v1/machine");

        assertThat(machine.status()).isEqualTo(200);
        assertThat(machine.text()).contains("\"tenant\":\"train\"", "\"gpus\":[", "\"boards\":[", "\"findings\":[]");
        assertThat(client.get("/v1/tenants/train").text()).startsWith("{\"tenant\":\"train\",\"running\":true");
        assertThat(client.get("/healthz").text()).isEqualTo("ok\n");
    }

    @Test
    void shouldTellWhatATenantCalled() {
        agent.tenant("train");

        assertThat(client.get("/v1/tenants/train/stat").text()).startsWith("{\"tenant\":\"train\",\"running\":true").contains("\"functions\":[]");
    }

    @Test
    void shouldTellOfEveryLimitAndWhereATenantHasIt() {
        agent.tenant("train");
        JsonTree tenant = JsonTree.parse(client.get("/v1/tenants/train").body());

        List<JsonTree> limits = JsonTree.parse(client.get("/v1/limits").body()).at("limits").elements();

        assertThat(limits).extracting(limit -> limit.at("name").text()).containsExactlyElementsOf(Limit.words(List.of(Limit.values())));
        for (JsonTree limit : limits) {
            JsonTree value = tenant;
            for (String name : limit.at("field").text().split("\\.")) {
                value = value.at(name);
            }
            assertThat(value.value() instanceof List<?>).as(limit.at("name").text()).isEqualTo(limit.at("byGpu").isTrue());
            assertThat(value.value()).as(limit.at("name").text()).isNotNull();
        }
    }

    @Test
    void shouldSayWhatIsNotThere() {
        assertThat(client.get("/v1/tenants/nobody").status()).isEqualTo(404);
        assertThat(client.get("/v2").text()).isEqualTo("{\"error\":\"there is no '/v2'; GET /v1/openapi.json lists what there is\"}");
        assertThat(client.ask("DELETE", "/v1/machine", new byte[0]).head()).contains(" 405 ", "allow: GET");
    }

    @Test
    void shouldBeForItsUserOnly() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(agent.socket()))).isEqualTo("rw-------");
    }

    @Test
    void shouldTellOfEventsAtOnce() throws Exception {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(agent.socket()));
            channel.write(ByteBuffer.wrap("GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            BufferedReader lines = new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
            assertThat(lines.readLine()).isEqualTo("HTTP/1.1 200 OK");
            await(lines, "event: machine");
            agent.tenant("late");
            await(lines, "event: event");
            assertThat(lines.readLine()).matches("id: \\d+\\.1");
            assertThat(lines.readLine()).contains("\"kind\":\"began\",\"tenant\":\"late\"");
        }
    }

    @Test
    void shouldChangeLimitsAsSetDoes() {
        agent.tenant("train");

        AgentClient.Response changed = client.ask("PATCH", "/v1/tenants/train/limits",
                "{\"memory\": \"6g\", \"weight\": 3, \"priority\": \"high\", \"exclusive\": true}".getBytes(StandardCharsets.UTF_8));

        assertThat(changed.text()).contains("\"memoryLimitBytes\":[6442450944", "\"weight\":3", "\"priority\":\"high\"", "\"exclusive\":true");
        assertThat(client.get("/v1/machine").text()).contains("\"kind\":\"limits\",\"tenant\":\"train\"");
        assertThat(changed.text()).isEqualTo(client.get("/v1/tenants/train").text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "{}", "{\"memory\"", "{\"memory\": {}}", "{\"memory\": null}", "{\"memory\": \"much\"}", "{\"speed\": 1}",
        "{\"memory\": 6}", "{\"memory\": \"6\"}", "{\"compute\": 25}", "{\"compute\": \"0.25\"}",
        "{\"weight\": 1, \"weight\": 2}", "{\"memory\": [[[[[[[[[[", "{\"weight\": 1e999999999}"})
    void shouldRefuseLimitsThatMakeNoSense(String body) {
        agent.tenant("train");

        AgentClient.Response answer = client.ask("PATCH", "/v1/tenants/train/limits", body.getBytes(StandardCharsets.UTF_8));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).startsWith("{\"error\":");
        assertThat(client.get("/v1/tenants/train").text()).contains("\"limitsEpoch\":0");
    }

    @Test
    void shouldDescribeEveryRoute() {
        String document = client.get("/v1/openapi.json").text();

        for (Route route : agent.routes()) {
            assertThat(document).contains("\"" + route.pattern() + "\":{").contains("\"summary\":\"" + route.summary().replace("\"", "\\\""));
        }
        assertThat(agent.routes()).hasSizeGreaterThan(8);
    }

    private static void await(BufferedReader lines, String wanted) throws Exception {
        String line = lines.readLine();
        while (!line.equals(wanted)) {
            line = lines.readLine();
        }
    }
}
