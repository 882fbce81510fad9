package sluice.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.GpuTime;
import sluice.region.Tenant;

/// One of two jobs that take turns is killed or stopped at any moment, and so also while it has the turn: the other goes on.
@Timeout(180)
class TurnFaultsTest extends OnMachine {
    private static final String ENDLESS = "10000000";
    private static final int ROUNDS = 5;
    private static final long WHILE_NANOS = 50_000_000;

    private Process job(String name) throws Exception {
        Process job = machine.startSluice("run", "--sim", "--name", name, "--weight", "1", "--", Machine.program("windows"), machine.kernels(), ENDLESS, "500");
        awaitMore(name, 0);
        return job;
    }

    private LongSupplier used(String name) {
        Path region = machine.runtimeDirectory().resolve(name + ".region");
        return () -> Files.notExists(region) ? 0 : Tenant.read(region).gpus().stream().findFirst().map(gpu -> gpu.time()).map(GpuTime::usedNanos).orElse(0L);
    }

    /// Waits until a job has used more of the GPU than this.
    private long awaitMore(String name, long nanos) throws InterruptedException {
        LongSupplier used = used(name);
        for (int look = 0; look < 400 && used.getAsLong() <= nanos; look++) {
            Thread.sleep(50);
        }
        assertThat(used.getAsLong()).as(name + " goes on").isGreaterThan(nanos);
        return used.getAsLong();
    }

    private void signal(String signal, Process process) throws Exception {
        assertThat(machine.plain("kill", signal, Long.toString(process.pid())).status()).isZero();
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "a job that takes turns, at any moment")
    void shouldGoOnWhenTheOtherIsKilled() throws Exception {
        job("stays");
        for (int round = 0; round < ROUNDS; round++) {
            Process other = job("other-" + round);
            other.destroyForcibly().waitFor();

            long before = used("stays").getAsLong();
            awaitMore("stays", before + WHILE_NANOS);
        }
    }

    @Test
    @Fault(kind = Fault.Kind.STOP, of = "a job that takes turns, at any moment")
    void shouldGoOnWhenTheOtherIsStopped() throws Exception {
        job("stays");
        Process other = job("other");
        for (int round = 0; round < ROUNDS; round++) {
            signal("-STOP", other);
            long before = used("stays").getAsLong();
            awaitMore("stays", before + WHILE_NANOS);
            long stopped = used("other").getAsLong();
            signal("-CONT", other);

            awaitMore("other", stopped);
        }
    }

    @Test
    @Fault(kind = Fault.Kind.STOP, of = "the agent that plans turns")
    void shouldGoOnWhenTheAgentIsStopped() throws Exception {
        Process agent = machine.startAgent();
        job("one");
        job("two");
        signal("-STOP", agent);

        awaitMore("one", used("one").getAsLong() + WHILE_NANOS);
        awaitMore("two", used("two").getAsLong() + WHILE_NANOS);
        job("three");
        signal("-CONT", agent);
    }
}
