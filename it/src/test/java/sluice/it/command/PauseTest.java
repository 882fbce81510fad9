package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.CommandChange;
import sluice.region.Tenant;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;

/// Pauses a program that checks every byte of its device memory.
@Timeout(120)
class PauseTest extends OnMachine {
    private Process job;

    @BeforeEach
    void start() throws Exception {
        job = machine.startSluice("run", "--sim", "--name", "train", "--mapped", "--", Machine.program("kept"), "60", "2", "67108864", "1");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (System.nanoTime() < end && !attended()) {
            Thread.sleep(20);
        }
        assumeTrue(attended(), "the library has no thread that carries out commands; it is of a version without the feature 'pause'");
        while (tenant().gpus().stream().allMatch(gpu -> gpu.usedBytes() == 0)) {
            assertThat(job.isAlive()).isTrue();
            Thread.sleep(20);
        }
    }

    @AfterEach
    void stop() throws Exception {
        job.destroyForcibly().waitFor();
        machine.close();
    }

    private Tenant tenant() {
        return Tenant.read(machine.runtimeDirectory().resolve("train.region"));
    }

    private boolean attended() {
        try {
            return tenant().liveProcesses().stream().map(TenantProcess::pause).anyMatch(pause -> pause.able() && pause.attended());
        } catch (RuntimeException e) {
            return false;
        }
    }

    private long calls() {
        return tenant().liveProcesses().stream().mapToLong(TenantProcess::calls).sum();
    }

    private void shouldStandStill() throws Exception {
        long before = calls();
        Thread.sleep(300);
        assertThat(calls() - before).as("calls that were under way may still be counted").isLessThan(16);
    }

    private void shouldGoOn() throws Exception {
        long before = calls();
        while (calls() < before + 20) {
            assertThat(job.isAlive()).isTrue();
            Thread.sleep(20);
        }
    }

    @Test
    void shouldHoldAndGoOn() throws Exception {
        var paused = machine.sluice("pause", "train");
        assertThat(paused.status()).as(paused.errors()).isZero();
        assertThat(paused.output()).contains("train is paused; its memory stays on the GPU");
        assertThat(tenant().state()).isEqualTo(TenantState.PAUSED);
        shouldStandStill();
        assertThat(machine.sluice("ps").output()).contains("train (paused ");

        assertThat(machine.sluice("resume", "train").status()).isZero();
        assertThat(tenant().state()).isEqualTo(TenantState.RUNNING);
        shouldGoOn();
    }

    @Test
    void shouldReleaseTheMemoryAndBringItBack() throws Exception {
        long used = tenant().gpus().getFirst().usedBytes();
        var released = machine.sluice("pause", "train", "--release");
        assertThat(released.status()).as(released.errors()).isZero();
        assertThat(tenant().state()).isEqualTo(TenantState.EVICTED);
        assertThat(tenant().pause().host().awayBytes()).isPositive();
        assertThat(tenant().gpus().getFirst().usedBytes()).isLessThan(used);

        assertThat(machine.sluice("resume", "train").status()).isZero();
        assertThat(tenant().pause().host().awayBytes()).isZero();
        shouldGoOn();
    }

    @Test
    void shouldDeepenAPause() throws Exception {
        assertThat(machine.sluice("pause", "train").status()).isZero();
        assertThat(machine.sluice("pause", "train", "--release").status()).isZero();
        assertThat(tenant().state()).isEqualTo(TenantState.EVICTED);
        assertThat(machine.sluice("resume", "train", "--json").output()).contains("\"state\" : \"done\"");
        shouldGoOn();
    }

    private void vacate() throws Exception {
        var vacated = machine.sluice("pause", "train", "--vacate");
        assertThat(vacated.status()).as(vacated.errors()).isZero();
        assertThat(tenant().gpus().getFirst().usedBytes()).isZero();
    }

    /// As an older version does, and a pause that is withdrawn.
    private void askWithoutALook() throws Exception {
        CommandChange.to(Depth.RUN, tenant());
        Thread.sleep(1500);
        assertThat(tenant().state()).isEqualTo(TenantState.RESUMING);
        assertThat(tenant().pause().moving().step()).isEqualTo(PauseStep.ROOM);
        assertThat(tenant().gpus().getFirst().usedBytes()).isZero();
    }

    @Test
    void shouldBringAVacatedJobBackOnlyAfterALookForRoom() throws Exception {
        vacate();
        askWithoutALook();
        assertThat(machine.sluice("ps").output()).contains("sluice resume");
        var resumed = machine.sluice("resume", "train");
        assertThat(resumed.status()).as(resumed.errors()).isZero();
        shouldGoOn();

        vacate();
        assertThat(machine.sluice("resume", "train").status()).isZero();
        shouldGoOn();
    }

    @Test
    void shouldBeLookedForByTheAgent() throws Exception {
        machine.startAgent();
        vacate();
        CommandChange.to(Depth.RUN, tenant());
        shouldGoOn();
        assertThat(tenant().state()).isEqualTo(TenantState.RUNNING);
    }

    @Test
    void shouldBeSeenByTheAgent() throws Exception {
        machine.startAgent();
        assertThat(machine.sluice("pause", "train").status()).isZero();
        assertThat(machine.askAgent("/v1/tenants/train")).contains("\"state\":\"paused\"");
        assertThat(machine.sluice("resume", "train").status()).isZero();
    }
}
