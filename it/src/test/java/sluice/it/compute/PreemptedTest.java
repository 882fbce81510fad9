package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import sluice.it.machine.Again;
import sluice.it.machine.Timed;

/// What tenants get whose kernels the GPU cuts for a tenant of high priority: their caps and weights hold as before.
@Isolated
class PreemptedTest extends SlicedJobs {
    private static final String[] BUSY = {"--priority", "high", "--compute", "30%"};

    private double seconds(Process job) throws Exception {
        assertThat(job.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(job.exitValue()).isZero();
        return millis(new String(job.getInputStream().readAllBytes())) / 1000;
    }

    /// Two seconds of kernels under a cap of 25 % take eight. The first ones take 50 us, and the library must notice that others take longer
    /// although each is interrupted. Each interruption is told up to 0.1 ms too long on a simulated GPU, which sees the start of a kernel before the slice of
    /// another process has ended; so there are few of 5 ms.
    @Timed
    @Test
    void shouldHoldTheCapOfKernelsThatGetLonger() throws Exception {
        job("high", ENDLESS, 5_000, BUSY);
        Again.atLeast(7.2, 9.2, () -> seconds(job("low", 40, 50_000, "--longer", new String[] {"--priority", "low", "--compute", "25%"})));
    }

    /// The time that the tenant of high priority has in the middle of a kernel is not charged to the other one.
    @Timed
    @Test
    void shouldChargeOnlyTheirOwnTime() throws Exception {
        job("high", ENDLESS, 1_000, BUSY);
        job("low", ENDLESS, 20_000, "--priority", "low", "--compute", "40%");
        Again.between(36, 42, () -> got("low"));
    }

    @Timed
    @Test
    void shouldKeepTheirWeights() throws Exception {
        job("high", ENDLESS, 1_000, BUSY);
        job("three", ENDLESS, 5_000, "--priority", "low", "--weight", "3");
        job("one", ENDLESS, 5_000, "--priority", "low", "--weight", "1");
        awaitSlices("one", 1);
        Again.between(2.6, 3.4, () -> {
            var three = tenant("three").gpus().getFirst().time();
            var one = tenant("one").gpus().getFirst().time();
            Thread.sleep(3000);
            return (double) tenant("three").gpus().getFirst().time().gotPermilleSince(three) / tenant("one").gpus().getFirst().time().gotPermilleSince(one);
        });
    }

    /// With very short slices a GPU only changes between two jobs that work at once: on an H200 both stood still. So each keeps its turn until its work has ended.
    @Timed
    @Test
    void shouldNotWorkBesideEachOther() throws Exception {
        machine.with("SLUICE_SIM_SWITCH", "139us");
        job("high", ENDLESS, 1_000, BUSY);
        Again.between(1, 6, () -> {
            Process one = job("one", 1000, 1_000, "--priority", "low", "--weight", "1");
            Process two = job("two", 1000, 1_000, "--priority", "low", "--weight", "1");
            return Math.max(seconds(one), seconds(two));
        });
    }

    /// Two tenants of high priority take turns, but take them from the kernel of 50 ms at once. Without time slices a burst takes 25 ms.
    @Timed
    @Test
    void shouldServeTwoTenantsOfHighPriority() throws Exception {
        job("low", ENDLESS, 50_000, "--priority", "low");
        job("other", ENDLESS, 1_000, "--priority", "high", "--compute", "20%");
        assertThat(awaitSlices("low", 1).micros()).isEqualTo(1);
        Again.between(0, 8, this::burst);
        assertThat(got("low")).isGreaterThan(40);
    }

    /// A tenant with a quota alone takes no turns, and its kernels are cut all the same.
    @Timed
    @Test
    void shouldCutATenantWithoutShares() throws Exception {
        job("low", ENDLESS, 50_000, "--memory", "1g");
        job("high", ENDLESS, 1_000, BUSY);
        assertThat(awaitSlices("low", 1).micros()).isEqualTo(1);
    }

    /// A job that is paused inside a kernel of known length keeps no turn until that would have ended.
    @Timed
    @Test
    void shouldLeaveItsTurnWhenItIsPausedInsideAKernel() throws Exception {
        job("long", 3, 4_000_000, "--weight", "1");
        Thread.sleep(5000);
        job("other", ENDLESS, 1_000, "--weight", "1");
        assertThat(machine.sluice("pause", "long").status()).isZero();
        Again.between(70, 101, () -> got("other"));
        assertThat(machine.sluice("resume", "long").status()).isZero();
    }
}
