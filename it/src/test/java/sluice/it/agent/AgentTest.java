package sluice.it.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// The agent may die at any time: jobs do not notice, and the next one goes on where it was.
@Timeout(120)
class AgentTest extends OnMachine {
    private static final int ENDLESS = 10_000_000;
    private static final Pattern USED = Pattern.compile("\"usedNanos\" ?: ?(\\d+)");

    private Process job(String name, String weight) throws Exception {
        return machine.startSluice("run", "--sim", "--name", name, "--weight", weight, "--", Machine.program("windows"),
                machine.kernels(), Integer.toString(ENDLESS), "500");
    }

    /// GPU time that a tenant has used; 0 while it has not come to the GPU.
    private long used(String tenant) throws Exception {
        Matcher found = USED.matcher(machine.askAgent("/v1/tenants/" + tenant));
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    /// Waits until the agent tells that a tenant has used more than this.
    private long awaitMore(String tenant, long nanos) throws Exception {
        for (int look = 0; look < 200; look++) {
            long used = used(tenant);
            if (used > nanos) {
                return used;
            }
            Thread.sleep(100);
        }
        throw new AssertionError(tenant + " does not go on");
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "the agent while jobs run")
    void shouldDisturbNoJobWhenItIsKilledAndGoOnAfterwards() throws Exception {
        Process agent = machine.startAgent();
        Process three = job("three", "3");
        Process one = job("one", "1");
        long usedByThree = awaitMore("three", 50_000_000);
        long usedByOne = awaitMore("one", 50_000_000);
        for (int look = 0; look < 100 && !machine.askAgent("/v1/history").contains("three"); look++) {
            Thread.sleep(100);
        }

        agent.destroyForcibly().waitFor();
        machine.startAgent();

        assertThat(awaitMore("three", usedByThree)).isGreaterThan(usedByThree);
        assertThat(awaitMore("one", usedByOne)).isGreaterThan(usedByOne);
        assertThat(three.isAlive() && one.isAlive()).isTrue();
        assertThat(machine.askAgent("/v1/history")).as("what was seen before").contains("three");
    }
}
