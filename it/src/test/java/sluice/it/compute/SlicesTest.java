package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.fault.Fault;
import sluice.it.machine.Again;
import sluice.it.machine.Machine;
import sluice.it.machine.Timed;
import sluice.region.pause.TimeSlices;

/// Time slices of the GPU: a tenant of high priority does not wait for kernels of others, and a pause not for a kernel that runs.
@Isolated
class SlicesTest extends SlicedJobs {
    /// Half of a kernel of 50 ms without time slices, 25 ms. The simulated GPU switches after 100 us.
    @Timed
    @Test
    void shouldNotWaitForAKernelOfALowerPriority() throws Exception {
        job("low", ENDLESS, 50_000, "--priority", "low");
        Again.between(0, 8, this::burst);
    }

    @Test
    void shouldWaitForItWithoutTimeSlices() throws Exception {
        machine.with("SLUICE_SLICES", "0");
        job("low", ENDLESS, 50_000, "--priority", "low");
        assertThat(burst()).isGreaterThan(8);
    }

    @Test
    void shouldShortenTheSliceOnlyWhileATenantOfHighPriorityIsThere() throws Exception {
        job("low", ENDLESS, 1_000, "--priority", "low");
        assertThat(awaitSlices("low", 0)).isEqualTo(new TimeSlices(1, 0));
        Process high = job("high", ENDLESS, 1_000, "--priority", "high", "--compute", "50%");
        assertThat(awaitSlices("low", 1)).isEqualTo(new TimeSlices(1, 1));
        assertThat(machine.sluice("inspect", "low").output()).contains("slices    on, 1 us");
        high.destroyForcibly().waitFor();
        assertThat(awaitSlices("low", 0)).isEqualTo(new TimeSlices(1, 0));
    }

    /// A tenant of high priority that cannot end by itself leaves nobody with a short slice or without turns.
    @Fault(kind = Fault.Kind.KILL, of = "the tenant for which others have short time slices")
    @Test
    void shouldGoOnAfterTheHighTenantIsKilled() throws Exception {
        job("one", ENDLESS, 5_000, "--priority", "low");
        job("two", ENDLESS, 5_000, "--priority", "low");
        Process high = job("high", ENDLESS, 500, "--priority", "high", "--compute", "30%");
        awaitSlices("one", 1);
        high.destroyForcibly().waitFor();
        assertThat(awaitSlices("one", 0).micros()).isZero();
        assertThat(awaitSlices("two", 0).micros()).isZero();
        Again.between(35, 65, () -> got("one"));
    }

    @Test
    void shouldNotTouchSlicesAmongEqualPriorities() throws Exception {
        job("one", ENDLESS, 1_000, "--weight", "1");
        job("two", ENDLESS, 1_000, "--weight", "2");
        Thread.sleep(300);
        assertThat(slices("one").micros()).isZero();
        assertThat(slices("two").micros()).isZero();
    }

    @Test
    void shouldTakeTurnsAsBeforeWhenTheDriverRefuses() throws Exception {
        machine.with("SLUICE_SIM_RM", "set@2+=0x1b");
        job("low", ENDLESS, 5_000, "--priority", "low");
        job("high", ENDLESS, 1_000, "--priority", "high", "--compute", "30%");
        Thread.sleep(300);
        assertThat(slices("low").text()).isEqualTo("off: the driver refused a control call");
        assertThat(machine.sluice("inspect", "low").output()).contains("slices    off: the driver refused a control call").contains("does not control time slices");
        Again.atMost(33, 25, () -> got("high"));
    }

    @Test
    void shouldPauseWhileAKernelRuns() throws Exception {
        Process job = job("long", 1, 4_000_000, "--priority", "normal");
        long begin = System.nanoTime();
        Machine.Outcome paused = machine.sluice("pause", "long");
        assertThat(paused.status()).isZero();
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin)).isLessThan(3000);
        assertThat(job.waitFor(5, TimeUnit.SECONDS)).isFalse();
        assertThat(machine.sluice("resume", "long").status()).isZero();
        assertThat(job.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(job.exitValue()).isZero();
    }

    /// Memory can only move when the kernel has ended. After that the job may end before it can say that it has resumed.
    @Test
    void shouldReleaseMemoryAfterAPauseInsideAKernel() throws Exception {
        Process job = job("long", 1, 3_000_000, "--priority", "normal", "--mapped");
        assertThat(machine.sluice("pause", "long").status()).isZero();
        assertThat(machine.sluice("pause", "long", "--release").status()).isZero();
        assertThat(tenant("long").processes().getFirst().pause().host().awayBytes()).isPositive();
        machine.sluice("resume", "long");
        assertThat(job.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(job.exitValue()).as(new String(job.getInputStream().readAllBytes())).isZero();
    }
}
