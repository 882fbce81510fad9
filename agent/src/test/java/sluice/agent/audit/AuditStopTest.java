package sluice.agent.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sluice.agent.audit.AuditFolder.MIB;
import static sluice.agent.audit.AuditFolder.START;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.audit.AuditRules.Stop;
import sluice.agent.audit.AuditSuspect.OnGpu;
import sluice.api.model.AuditFinding;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Stops real processes, and above all does not stop others.
@Timeout(60)
class AuditStopTest {
    private static final long SELF = Integer.toUnsignedLong(ThisProcess.current().uid());
    private static final int ALICE = 64001;
    private static final int TERMINATED = 128 + 15;
    private static final int KILLED = 128 + 9;

    @TempDir
    private Path folder;

    private AuditFolder machine;
    private final List<String> told = new ArrayList<>();
    private final List<Process> programs = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        machine = new AuditFolder(folder);
    }

    @AfterEach
    void stop() throws Exception {
        for (Process program : programs) {
            program.destroyForcibly().waitFor();
        }
    }

    private Process program(Process started) {
        programs.add(started);
        return started;
    }

    private static AuditRules rules(Stop stop, Set<Long> users, int graceSeconds) {
        return new AuditRules(SELF, true, 64 * MIB, Set.of(), Set.of(), stop, users, false, Duration.ofSeconds(graceSeconds), Duration.ofSeconds(2));
    }

    /// So many looks, a second apart.
    private List<AuditFinding> looks(int count, AuditRules rules) {
        Audit audit = machine.audit(rules);
        List<AuditFinding> findings = List.of();
        try (AuditStop stop = new AuditStop(rules, (suspect, text) -> told.add(text))) {
            for (int look = 0; look < count; look++) {
                var now = machine.now();
                findings = stop.step(audit.look(now), now);
            }
        }
        return findings;
    }

    @Test
    void shouldStopAProcessThatIsInNoLedger() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        machine.on(program.pid(), 300 * MIB);

        assertThat(looks(2, rules(Stop.UNREGISTERED, Set.of(), 0))).extracting(AuditFinding::action).containsExactly("terminated");

        assertThat(program.waitFor()).isEqualTo(TERMINATED);
        assertThat(told).singleElement().asString().startsWith("stopped pid " + program.pid() + " (sleep 100)").endsWith(": it was in no ledger");
    }

    @Test
    void shouldKillAProcessThatDoesNotEnd() throws Exception {
        Process program = program(GpuProgram.start(folder, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"));
        program.inputReader().readLine();
        machine.on(program.pid(), 300 * MIB);

        assertThat(looks(3, rules(Stop.UNREGISTERED, Set.of(), 0))).extracting(AuditFinding::action).containsExactly("terminated");
        assertThat(program.isAlive()).isTrue();
        assertThat(looks(4, rules(Stop.UNREGISTERED, Set.of(), 0))).extracting(AuditFinding::action).containsExactly("killed");

        assertThat(program.waitFor()).isEqualTo(KILLED);
    }

    @Test
    void shouldWaitForTheGraceTime() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        machine.on(program.pid(), 300 * MIB);

        assertThat(looks(5, rules(Stop.UNREGISTERED, Set.of(), 5))).extracting(AuditFinding::action).containsExactly("reported");
        assertThat(program.isAlive()).isTrue();
        looks(6, rules(Stop.UNREGISTERED, Set.of(), 5));
        assertThat(program.waitFor()).isEqualTo(TERMINATED);
    }

    @Test
    void shouldStopNoProcessUnlessAsked() throws Exception {
        Process unknown = program(GpuProgram.sleep(folder));
        Process over = program(GpuProgram.sleep(folder));
        machine.on(unknown.pid(), 300 * MIB);
        machine.on(over.pid(), 300 * MIB);
        machine.tenant("train", over.pid(), 100 * MIB);

        assertThat(looks(4, rules(Stop.NEVER, Set.of(), 0))).hasSize(2);
        assertThat(unknown.isAlive()).isTrue();
        looks(4, rules(Stop.UNREGISTERED, Set.of(), 0));
        assertThat(unknown.waitFor()).isEqualTo(TERMINATED);
        assertThat(over.isAlive()).isTrue();
        looks(4, rules(Stop.ALL, Set.of(), 0));
        assertThat(over.waitFor()).isEqualTo(TERMINATED);
    }

    @Test
    void shouldNeverStopAProcessThatIsInOrder() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        machine.on(program.pid(), 300 * MIB);
        machine.tenant("train", program.pid(), 300 * MIB);

        assertThat(looks(6, rules(Stop.ALL, Set.of(), 0))).isEmpty();
        assertStillRuns(program);
    }

    @Test
    void shouldLeaveOtherUsersAlone() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        machine.on(program.pid(), 300 * MIB);

        assertThat(looks(6, rules(Stop.ALL, Set.of(SELF + 1), 0))).extracting(AuditFinding::action).containsExactly("reported");

        assertStillRuns(program);
        assertThat(told).singleElement().asString().startsWith("did not stop pid " + program.pid()).contains("audit-stop-users");
    }

    @Test
    void shouldStopTheUsersThatAreNamed() throws Exception {
        assumeTrue(SELF == 0, "only root can start programs of other users");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "setpriv is needed");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process program = program(GpuProgram.start(folder, "setpriv", "--reuid", Integer.toString(ALICE), "--clear-groups", "sleep", "100"));
        while (AuditedProcess.read(program.pid()).filter(now -> now.program().contains("sleep")
                && now.mappings().orElseThrow().driver()).isEmpty() && program.isAlive()) {
            Thread.sleep(5);
        }
        machine.on(program.pid(), 300 * MIB);

        assertThat(looks(3, rules(Stop.UNREGISTERED, Set.of(), 0))).extracting(AuditFinding::uid, AuditFinding::action)
                .containsExactly(tuple((long) ALICE, "reported"));
        assertStillRuns(program);
        looks(3, rules(Stop.UNREGISTERED, Set.of((long) ALICE), 0));
        assertThat(program.waitFor()).isEqualTo(TERMINATED);
    }

    @Test
    void shouldSpareAProcessThatDraws() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        machine.onGpu.add(new OnGpu(0, AuditFolder.GPU, program.pid(), 300 * MIB, true));

        looks(6, rules(Stop.ALL, Set.of(), 0));

        assertStillRuns(program);
        assertThat(told).singleElement().asString().endsWith("it draws on the GPU too");
    }

    @Test
    void shouldNotHitTheNextOwnerOfAPid() throws Exception {
        Process program = program(GpuProgram.sleep(folder));
        AuditedProcess now = AuditedProcess.read(program.pid()).orElseThrow();
        AuditedProcess before = new AuditedProcess(Identity.of(program.pid(), now.identity().startTicks() - 1), now.uid(), now.uidNow(),
                now.innerPid(), now.executable(), now.ofRoot(), now.commandLine(), now.container());
        AuditSuspect suspect = new AuditSuspect(machine.on(program.pid(), 300 * MIB), before, Optional.empty(), "");

        try (AuditStop stop = new AuditStop(rules(Stop.ALL, Set.of(), 0), (who, text) -> told.add(text))) {
            stop.step(List.of(new Audit.Found(suspect, START)), START.plusSeconds(9));
            stop.step(List.of(new Audit.Found(suspect, START)), START.plusSeconds(99));
        }

        assertStillRuns(program);
        assertThat(told).singleElement().asString().endsWith("it has ended");
    }

    @Test
    void shouldNotHitAProgramThatHasARegionByNow() throws Exception {
        Process before = program(GpuProgram.sleep(folder));
        RuntimeDirectory elsewhere = new RuntimeDirectory(Files.createDirectory(folder.resolve("elsewhere")));
        Process program = program(GpuProgram.mapping(folder, AuditFolder.tenant(elsewhere, "train", before.pid(), 0)));
        AuditSuspect suspect = new AuditSuspect(machine.on(program.pid(), 300 * MIB), AuditedProcess.read(program.pid()).orElseThrow(), Optional.empty(), "");

        try (AuditStop stop = new AuditStop(rules(Stop.ALL, Set.of(), 0), (who, text) -> told.add(text))) {
            stop.step(List.of(new Audit.Found(suspect, START)), START.plusSeconds(9));
        }

        assertStillRuns(program);
        assertThat(told).singleElement().asString().endsWith("it is not what it was");
    }

    /// Two that do not end by SIGTERM: one goes on as it was, the other becomes a program that has nothing to do with a GPU.
    @Test
    void shouldLookAgainBeforeItKills() throws Exception {
        Process same = program(GpuProgram.start(folder, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"));
        Process other = program(GpuProgram.start(folder, "sh", "-c", "trap 'exec env -u LD_PRELOAD sleep 100' TERM; echo ready; while :; do sleep 0.1; done"));
        same.inputReader().readLine();
        other.inputReader().readLine();
        List<Audit.Found> found = List.of(found(same), found(other));

        try (AuditStop stop = new AuditStop(rules(Stop.ALL, Set.of(), 0), (who, text) -> told.add(text))) {
            assertThat(stop.step(found, START.plusSeconds(9))).extracting(AuditFinding::action).containsExactly("terminated", "terminated");
            while (AuditedProcess.read(other.pid()).filter(now -> now.commandLine().equals("sleep 100") && !now.mappings().orElseThrow().driver()).isEmpty()) {
                Thread.sleep(5);
            }
            assertThat(stop.step(found, START.plusSeconds(99))).extracting(AuditFinding::action).containsExactly("killed", "terminated");
        }

        assertThat(same.waitFor()).isEqualTo(KILLED);
        assertStillRuns(other);
    }

    private Audit.Found found(Process program) {
        return new Audit.Found(new AuditSuspect(machine.on(program.pid(), 300 * MIB), AuditedProcess.read(program.pid()).orElseThrow(), Optional.empty(), ""), START);
    }

    @Test
    void shouldKeepNoDescriptorOfAnEndedProcess() throws Exception {
        List<Audit.Found> found = new ArrayList<>();
        for (int at = 0; at < 5; at++) {
            found.add(found(program(GpuProgram.sleep(folder))));
        }
        long before = descriptorsOfProcesses();
        try (AuditStop stop = new AuditStop(rules(Stop.ALL, Set.of(), 0), (who, text) -> told.add(text))) {
            stop.step(found, START.plusSeconds(9));
            assertThat(descriptorsOfProcesses()).isEqualTo(before + 5);
            stop.step(found.subList(0, 2), START.plusSeconds(10));
            assertThat(descriptorsOfProcesses()).isEqualTo(before + 2);
        }
        assertThat(descriptorsOfProcesses()).isEqualTo(before);
    }

    private static long descriptorsOfProcesses() throws Exception {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(file -> {
                try {
                    return Files.readSymbolicLink(file).toString().contains("pidfd");
                } catch (IOException e) {
                    return false;
                }
            }).count();
        }
    }

    private static void assertStillRuns(Process program) throws Exception {
        assertThat(program.waitFor(300, TimeUnit.MILLISECONDS)).isFalse();
    }
}
