package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.api.client.AgentClient.Response;
import sluice.fault.Fault;
import sluice.region.layout.RegionLayout;

/// A claim of a cluster gives limits to the processes that have its token, and to no others.
@Timeout(60)
class ClaimRoutesTest {
    private static final String TOKEN = "0123456789abcdefghijABCDEFGHIJ_-0123456789a";
    private static final String ID = "6f1c2d1e-0000-4000-8000-0123456789ab";
    private static final String OF_CLAIM = "region " + RegionLayout.LAYOUT + " claim:" + TOKEN;

    @TempDir
    private Path folder;

    private RunningAgent agent;
    private final List<Process> jobs = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "python3 is needed");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(folder.resolve("policy"), "label=claim:* -> memory=9g\nuser=64002 -> refuse\n* -> memory=1g\n");
        try (var source = RegistrationTest.class.getResourceAsStream("register.py")) {
            Files.copy(source, folder.resolve("register.py"));
        }
        agent = agent();
    }

    private RunningAgent agent() throws Exception {
        return new RunningAgent(folder, List.of(new RegistrationPart()), "policy = " + folder.resolve("policy"), "register-socket = " + socket());
    }

    private Path socket() {
        return folder.resolve("register/agent.sock");
    }

    @AfterEach
    void stop() throws Exception {
        for (Process job : jobs) {
            job.destroyForcibly().waitFor();
        }
        agent.close();
    }

    private List<String> job(String request, String... before) throws Exception {
        List<String> command = new ArrayList<>(List.of(before));
        command.addAll(List.of("/usr/bin/python3", folder.resolve("register.py").toString(), socket().toString(), request));
        Process job = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        jobs.add(job);
        List<String> lines = new ArrayList<>();
        String line = job.inputReader().readLine();
        while (line != null && lines.size() < 8) {
            lines.add(line);
            line = lines.size() < 8 && lines.getFirst().startsWith("ok") ? job.inputReader().readLine() : null;
        }
        return lines;
    }

    private Response declare(String token, String limits) {
        String body = "{\"token\": \"" + token + "\", \"id\": \"" + ID + "\", \"gpus\": [\"GPU-1\"], \"limits\": " + limits
                + ", \"namespace\": \"team\", \"claim\": \"train-gpu\", \"pod\": \"train\", \"container\": \"main\"}";
        return agent.client().ask("PUT", "/v1/claims/" + ID, body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldGiveProcessesWithTheTokenTheLimitsOfTheClaim() throws Exception {
        assertThat(declare(TOKEN, "{\"memory\": \"3g\", \"compute\": \"25%\", \"weight\": \"2\"}").status()).isEqualTo(204);

        List<String> first = job(OF_CLAIM);
        List<String> second = job(OF_CLAIM);

        assertThat(first).contains("ok k8s.team.train-gpu", "memory " + (3L << 30));
        assertThat(second).contains("ok k8s.team.train-gpu", "memory " + (3L << 30));
        String tenant = agent.client().get("/v1/tenants/k8s.team.train-gpu").text();
        assertThat(tenant).contains("team/train/main: ").contains("\"capPermille\":250")
                .contains("\"claim\":{\"namespace\":\"team\",\"pod\":\"train\",\"container\":\"main\",\"claim\":\"train-gpu\"}");
    }

    @Test
    void shouldGiveNoOtherProcessItsLimits() throws Exception {
        declare(TOKEN, "{\"memory\": \"3g\"}");

        assertThat(job("region " + RegionLayout.LAYOUT + " claim:" + TOKEN.replace('9', '8')).getFirst()).startsWith("no ").contains("withdrawn");
        assertThat(job("region " + RegionLayout.LAYOUT + " claim:").getFirst()).startsWith("no ");
        assertThat(job("region " + RegionLayout.LAYOUT + " -")).contains("memory " + (1L << 30));
    }

    @Fault(kind = Fault.Kind.KILL, of = "the agent, between a claim and its pod")
    @Test
    void shouldKnowItsClaimsAfterARestart() throws Exception {
        declare(TOKEN, "{\"memory\": \"3g\"}");
        agent.close();
        agent = agent();

        assertThat(job(OF_CLAIM)).contains("memory " + (3L << 30));
        assertThat(agent.client().get("/v1/claims").text()).contains(ID).doesNotContain(TOKEN);
        try (Stream<Path> files = Files.list(folder.resolve("state/claims"))) {
            for (Path file : files.toList()) {
                assertThat(Files.readString(file)).doesNotContain(TOKEN);
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
            }
        }
    }

    @Test
    void shouldGiveNothingAfterTheClaimIsWithdrawn() throws Exception {
        declare(TOKEN, "{\"memory\": \"3g\"}");
        job(OF_CLAIM);
        jobs.getFirst().destroyForcibly().waitFor();

        assertThat(agent.client().ask("DELETE", "/v1/claims/" + ID, new byte[0]).status()).isEqualTo(204);
        assertThat(agent.client().ask("DELETE", "/v1/claims/" + ID, new byte[0]).status()).isEqualTo(204);

        assertThat(job(OF_CLAIM).getFirst()).startsWith("no ");
        assertThat(agent.client().get("/v1/claims").text()).doesNotContain(ID);
    }

    @Test
    void shouldRefuseWhatIsNoClaim() {
        assertThat(declare(TOKEN, "{\"memory\": \"lots\"}").text()).contains("memory");
        assertThat(declare(TOKEN, "{\"speed\": \"3\"}").text()).contains("speed");
        assertThat(declare("short", "{\"memory\": \"3g\"}").text()).contains("token");
        assertThat(agent.client().ask("PUT", "/v1/claims/..%2Fx", "{}".getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(404);
        assertThat(agent.client().ask("PUT", "/v1/claims/x", "[[[".getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(400);
        assertThat(agent.client().get("/v1/claims").text()).isEqualTo("{\"claims\":[]}");
    }

    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the claims of a cluster")
    @Test
    void shouldLetProcessesOfSeveralUsersShareAClaim() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")) && "root".equals(System.getProperty("user.name")), "needs root and setpriv");
        declare(TOKEN, "{\"memory\": \"3g\"}");

        assertThat(job(OF_CLAIM)).contains("ok k8s.team.train-gpu");
        assertThat(job(OF_CLAIM, "setpriv", "--reuid", "64002", "--clear-groups")).contains("ok k8s.team.train-gpu", "memory " + (3L << 30));
    }
}
