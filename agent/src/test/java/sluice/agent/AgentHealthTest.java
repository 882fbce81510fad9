package sluice.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.http.Answer;
import sluice.agent.http.Route;
import sluice.agent.metrics.MetricsTenants;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;
import sluice.api.client.AgentClient;
import sluice.fault.Fault;

/// What `/healthz` says when a part hangs or fails, and what becomes of requests then.
@Timeout(120)
class AgentHealthTest {
    private static final String OFTEN = "look-every = 100ms";
    private static final String SOON = "late-after = 2s";

    @TempDir
    private Path folder;

    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger working = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    /// Makes every look hang from some moment on, and has a route that hangs.
    private final class Hanging implements Part {
        private volatile boolean hangs;

        @Override
        public void start(AgentContext context) {
            context.machine().findings(() -> {
                if (hangs) {
                    hang();
                }
                return List.of();
            });
        }

        @Override
        public List<Route> routes() {
            return List.of(Route.get("/hang", "Hangs.", request -> {
                most.accumulateAndGet(working.incrementAndGet(), Math::max);
                hang();
                return Answer.text("done");
            }));
        }
    }

    private void hang() {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static AgentClient.Response await(RunningAgent agent, int status) throws InterruptedException {
        AgentClient.Response response = agent.client().get("/healthz");
        for (int wait = 0; wait < 300 && response.status() != status; wait++) {
            Thread.sleep(50);
            response = agent.client().get("/healthz");
        }
        return response;
    }

    @Test
    @Fault(kind = Fault.Kind.STOP, of = "a part of the agent")
    void shouldNameThePartThatHangs() throws Exception {
        var hanging = new Hanging();
        try (RunningAgent agent = new RunningAgent(folder, List.of(hanging), OFTEN, SOON)) {
            assertThat(await(agent, 200).text()).isEqualTo("ok\n");
            hanging.hangs = true;

            AgentClient.Response late = await(agent, 503);
            assertThat(late.status()).isEqualTo(503);
            assertThat(late.text()).contains("look").doesNotContain("planning");

            go.countDown();
            assertThat(await(agent, 200).text()).isEqualTo("ok\n");
        }
    }

    @Test
    @Fault(kind = Fault.Kind.STOP, of = "a part of the agent")
    void shouldAnswerInTimeWhenARouteHangs() throws Exception {
        try (RunningAgent agent = new RunningAgent(folder, List.of(new Hanging()), "request-time = 500ms")) {
            assertThat(agent.client().get("/hang").status()).isEqualTo(503);
            go.countDown();
        }
    }

    @Test
    void shouldWorkOnFewRequestsAtATime() throws Exception {
        try (RunningAgent agent = new RunningAgent(folder, List.of(new Hanging()), "request-time = 2s")) {
            List<Thread> clients = java.util.stream.IntStream.range(0, 40).mapToObj(at -> Thread.startVirtualThread(() -> agent.client().get("/hang"))).toList();
            for (Thread client : clients) {
                client.join();
            }
            assertThat(most.get()).isLessThanOrEqualTo(4);
            go.countDown();
        }
    }

    @Test
    void shouldTellOfFaultsOfThePlannerOnce() throws Exception {
        try (RunningAgent agent = new RunningAgent(folder, OFTEN)) {
            MetricsTenants.onBoard(agent.directory(), agent.tenantOnGpu("train"));
            await(agent, 200);
            Thread.sleep(1000);
            Path board = agent.directory().path().resolve("board-" + "0".repeat(32));
            try (var file = Files.newByteChannel(board, StandardOpenOption.WRITE)) {
                file.truncate(100);
            }
            Thread.sleep(2000);

            String machine = agent.client().get("/v1/machine").text();
            assertThat(machine.split("\"kind\":\"fault\"", -1)).as("faults told of").hasSizeBetween(2, 3);
            assertThat(agent.client().get("/healthz").text()).startsWith("ok\n").contains("planning");
            Files.delete(board);
            for (int wait = 0; wait < 100 && !agent.client().get("/healthz").text().equals("ok\n"); wait++) {
                Thread.sleep(50);
            }
            assertThat(agent.client().get("/healthz").text()).isEqualTo("ok\n");
        }
    }
}
