package sluice.agent.pause;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.agent.pause.FakeAttendant.Doing;
import sluice.api.client.AgentClient;
import sluice.api.client.AgentTenants;
import sluice.api.model.Operation;
import sluice.api.model.Operation.Kind;
import sluice.api.model.Operation.State;
import sluice.api.pause.FollowedOperation;
import sluice.api.pause.PauseBody;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TenantState;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;

/// Pauses by the agent, of a tenant with a process that answers as the library does.
@Timeout(60)
class PauseRoutesTest {
    @TempDir
    private Path folder;

    private RunningAgent agent;
    private Path file;

    @BeforeEach
    void start() throws Exception {
        agent = new RunningAgent(folder, List.of(new PausePart()));
        file = agent.tenantOnGpu("train");
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private FollowedOperation operate(Kind kind, Optional<Duration> timeout) {
        AgentTenants tenants = AgentTenants.at(agent.socket(), List.of());
        return tenants.operate(tenants.look().getFirst(), new PauseBody(kind, timeout));
    }

    private static Operation last(FollowedOperation operation) throws InterruptedException {
        while (operation.look().runs()) {
            Thread.sleep(10);
        }
        return operation.look();
    }

    private AgentClient.Response post(String what, String body) {
        return agent.client().ask("POST", "/v1/tenants/train/" + what, body.getBytes());
    }

    @Test
    void shouldReleaseAndResume() throws Exception {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            pause.awayBytes(command.depth().isAway() ? 4096 : 0);
            return Doing.ANSWER;
        })) {
            Operation released = last(operate(Kind.RELEASE, Optional.empty()));
            assertThat(released.state()).isEqualTo(State.DONE);
            assertThat(released.host().awayBytes()).isEqualTo(4096);
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.EVICTED);
            assertThat(AgentTenants.at(agent.socket(), List.of()).look().getFirst().state()).isEqualTo(TenantState.EVICTED);

            assertThat(last(operate(Kind.RESUME, Optional.empty())).state()).isEqualTo(State.DONE);
            assertThat(agent.client().get("/v1/operations").text()).contains("\"kind\":\"release\"", "\"kind\":\"resume\"");
        }
    }

    @Test
    void shouldAnswer202WithTheOperation() {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> Doing.NOTHING)) {
            AgentClient.Response response = post("pause", "{\"depth\": \"vacate\"}");
            assertThat(response.status()).isEqualTo(202);
            assertThat(response.text()).contains("\"kind\":\"vacate\",\"state\":\"running\"");
        }
    }

    @Test
    void shouldWithdrawWhatIsLateWithoutBeingAsked() throws Exception {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> Doing.NOTHING)) {
            operate(Kind.HOLD, Optional.of(Duration.ofMillis(100)));
            while (Tenant.read(file).asked().depth() != Depth.RUN) {
                Thread.sleep(10);
            }
        }
        assertThat(agent.client().get("/v1/operations/1").text()).contains("\"state\":\"withdrawn\"", "not done within 0.1 s");
    }

    @Test
    void shouldWithdrawOnDemandAndTellWhyAProcessRefused() throws Exception {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            pause.reason("it has peers");
            return command.depth() == Depth.VACATE ? Doing.REFUSE : Doing.NOTHING;
        })) {
            assertThat(operate(Kind.HOLD, Optional.empty()).withdraw().state()).isEqualTo(State.WITHDRAWN);
            Operation refused = last(operate(Kind.VACATE, Optional.empty()));
            assertThat(refused.state()).isEqualTo(State.FAILED);
            assertThat(refused.reason()).isEqualTo("it has peers");
            assertThat(Tenant.read(file).asked().depth()).isEqualTo(Depth.RUN);
        }
    }

    /// The operation waits, as that of a released tenant does.
    @Test
    void shouldAnswerAResumeWithoutRoomWithAnOperation() throws Exception {
        try (Region region = Region.openReadWrite(file); FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            if (command.depth() == Depth.VACATE) {
                region.account(0, 0).asideBytes(2L << 30);
                region.slot(0).storedNanos(System.nanoTime());
                return Doing.ANSWER;
            }
            FakeAttendant.tell(pause, PauseStep.ROOM, 0, 0, "waits for a look");
            if (region.limits().roomNanos() <= region.slot(0).storedNanos()) {
                return Doing.NOTHING;
            }
            region.slot(0).storedNanos(0);
            return Doing.ANSWER;
        })) {
            assertThat(last(operate(Kind.VACATE, Optional.empty())).state()).isEqualTo(State.DONE);
            AgentClient.Response response = post("resume", "");
            assertThat(response.status()).isEqualTo(202);
            FollowedOperation operation = operate(Kind.RESUME, Optional.empty());
            while (!operation.look().reason().startsWith("GPU 0 has 1.0 GiB free")) {
                assertThat(operation.look().runs()).as(operation.look().reason()).isTrue();
                Thread.sleep(10);
            }
            region.account(0, 0).asideBytes(1L << 29);
            assertThat(last(operation).state()).isEqualTo(State.DONE);
        }
    }

    @Test
    void shouldStreamAnOperation() throws Exception {
        try (FakeAttendant _ = new FakeAttendant(file, (command, pause) -> {
            FakeAttendant.tell(pause, PauseStep.COPY_OUT, 100, pause.movedBytes() + 1, "");
            return pause.movedBytes() > 50 ? Doing.ANSWER : Doing.NOTHING;
        })) {
            post("pause", "{\"depth\": \"release\"}");
            assertThat(PauseStream.untilEnd(agent.socket(), "/v1/operations/1/events")).contains("event: operation\ndata: {\"id\":\"1\"", "\"state\":\"done\"");
        }
    }

    @Test
    void shouldRefuseNonsense() {
        assertThat(post("pause", "{\"depth\": \"run\"}").text()).contains("bad depth 'run'; use hold, release, vacate");
        assertThat(post("pause", "{\"timeoutMillis\": -1}").text()).contains("bad timeoutMillis");
        assertThat(post("resume", "[").status()).isEqualTo(400);
        assertThat(agent.client().get("/v1/operations/99").status()).isEqualTo(404);
    }
}
