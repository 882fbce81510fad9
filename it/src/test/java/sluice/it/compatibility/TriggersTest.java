package sluice.it.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.TenantState;

/// Signals and the file of older tools pause a job that checks all its bytes, under the name of their tool.
@Timeout(120)
class TriggersTest extends OnMachine {
    private static final Path NOTIFIED = Path.of("/tmp/cudaw/notified");

    private Process kept(String library, int seconds) throws Exception {
        Process job = machine.startPreloaded(Map.of("LD_PRELOAD", Machine.link(library), "SLUICE_TENANT", "job"), Machine.program("kept"),
                Integer.toString(seconds), "3", "300000", "7");
        Machine.awaitLine(job, "ready");
        await(tenant -> tenant.gpus().stream().anyMatch(gpu -> gpu.usedBytes() > 0));
        return job;
    }

    private Tenant tenant() {
        return Tenant.read(machine.runtimeDirectory().resolve("job.region"));
    }

    private void await(Predicate<Tenant> shown) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!shown.test(tenant())) {
            assertThat(System.nanoTime()).as("%s %s", tenant().state(), tenant().pause()).isLessThan(end);
            Thread.sleep(5);
        }
    }

    private void await(TenantState state) throws Exception {
        await(tenant -> tenant.state() == state);
    }

    private void send(Process job, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(job.pid())).start().waitFor()).isZero();
    }

    private void shouldHaveKeptAll(Process job) throws Exception {
        var outcome = Machine.await(job);
        assertThat(outcome.status()).as(outcome.output() + outcome.errors()).isZero();
        assertThat(outcome.output()).contains("kept ");
    }

    @ParameterizedTest
    @CsvSource({
        "libvgpu.so, USR2, USR1, PAUSED",
        "libcudaw-signal-notifier.so, USR1, USR2, EVICTED",
        "libcudaw-checkpoint.so, USR1, CONT, EVICTED",
        "libcudaw-checkpoint.so, USR2, CONT, EVICTED",
    })
    void shouldPauseAndResumeBySignals(String library, String pause, String resume, TenantState paused) throws Exception {
        Process job = kept(library, 4);
        for (int i = 0; i < 3; i++) {
            send(job, pause);
            await(paused);
            assertThat(tenant().pause().host().awayBytes() > 0).isEqualTo(paused == TenantState.EVICTED);
            send(job, resume);
            await(TenantState.RUNNING);
        }
        shouldHaveKeptAll(job);
    }

    @Test
    void shouldShowThatAProcessPausedItselfAndResumeIt() throws Exception {
        Process job = kept("libcudaw-signal-notifier.so", 5);
        send(job, "USR1");
        await(TenantState.EVICTED);
        assertThat(machine.sluice("ps").output()).contains("job (evicted ").contains("paused by a signal or file of an older tool; 'sluice resume job' takes that back");
        assertThat(machine.sluice("ps", "--json").output()).contains("\"ownPauses\"");
        var resumed = machine.sluice("resume", "job");
        assertThat(resumed.status()).as(resumed.errors()).isZero();
        await(TenantState.RUNNING);
        send(job, "USR1");
        await(TenantState.EVICTED);
        send(job, "USR2");
        await(TenantState.RUNNING);
        shouldHaveKeptAll(job);
    }

    @Test
    void shouldPauseByCudawsFile() throws Exception {
        assumeTrue(Files.notExists(NOTIFIED), "somebody else uses " + NOTIFIED);
        assumeTrue(Files.notExists(NOTIFIED.getParent()) || Files.getOwner(NOTIFIED.getParent()).equals(Files.getOwner(directory)),
                NOTIFIED.getParent() + " is another user's");
        Files.createDirectories(NOTIFIED.getParent(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Process job = kept("libcudaw.so", 5);
        try {
            Files.createFile(NOTIFIED);
            await(TenantState.EVICTED);
        } finally {
            Files.deleteIfExists(NOTIFIED);
        }
        await(TenantState.RUNNING);
        shouldHaveKeptAll(job);
    }

    @ParameterizedTest
    @CsvSource({"libsluice.so, USR1", "libsluice.so, USR2", "libcudaw.so, USR1", "libcuda2.so, USR2"})
    void shouldLeaveSignalsAloneUnderOtherNames(String library, String signal) throws Exception {
        Process job = kept(library, 30);
        send(job, signal);
        assertThat(job.waitFor()).isEqualTo(128 + (signal.equals("USR1") ? 10 : 12));
    }

    @Test
    void shouldKeepAllInAStormOfSignals() throws Exception {
        Process job = kept("libcudaw-checkpoint.so", 6);
        String storm = "i=0; while [ $i -lt 250 ]; do kill -USR1 %d; kill -CONT %<d; kill -USR2 %<d; kill -CONT %<d; i=$((i+1)); sleep 0.002; done".formatted(job.pid());
        assertThat(machine.plain("sh", "-c", storm).status()).isZero();
        send(job, "CONT");
        await(TenantState.RUNNING);
        shouldHaveKeptAll(job);
    }

    /// A shell that becomes the job: its children and what it executes take the signals themselves.
    @Test
    void shouldTakeSignalsAfterExec() throws Exception {
        Process job = machine.startPreloaded(Map.of("LD_PRELOAD", Machine.link("libcudaw-signal-notifier.so"), "SLUICE_TENANT", "job"),
                "sh", "-c", "true; exec " + Machine.program("kept") + " 3 2 200000 3");
        Machine.awaitLine(job, "ready");
        await(tenant -> tenant.gpus().stream().anyMatch(gpu -> gpu.usedBytes() > 0));
        send(job, "USR1");
        await(TenantState.EVICTED);
        send(job, "USR2");
        await(TenantState.RUNNING);
        shouldHaveKeptAll(job);
    }
}
