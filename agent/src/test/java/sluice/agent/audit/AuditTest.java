package sluice.agent.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.agent.audit.AuditFolder.GPU;
import static sluice.agent.audit.AuditFolder.MIB;
import static sluice.agent.audit.AuditFolder.START;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.audit.AuditSuspect.OnGpu;
import sluice.agent.os.ContainerId;
import sluice.api.model.AuditFinding;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Real processes and real regions; only the list of processes on the GPU is made up.
@Timeout(60)
class AuditTest {
    private static final long SELF = Integer.toUnsignedLong(ThisProcess.current().uid());
    private static final String OTHER_GPU = GPU.replace('0', '1');
    private static final AuditRules REPORTING = AuditRules.reporting(SELF, false);

    @TempDir
    private Path folder;

    private AuditFolder machine;
    private Process program;

    @BeforeEach
    void start() throws Exception {
        machine = new AuditFolder(folder);
        program = GpuProgram.sleep(folder);
    }

    @AfterEach
    void stop() throws Exception {
        program.destroyForcibly().waitFor();
    }

    private List<AuditFinding> findingsAfter(int looks, AuditRules rules) {
        Audit audit = machine.audit(rules);
        List<Audit.Found> found = List.of();
        for (int look = 0; look < looks; look++) {
            found = machine.look(audit);
        }
        return found.stream().map(each -> each.suspect().finding(each.since(), AuditFinding.REPORTED)).toList();
    }

    @Test
    void shouldFindAProcessInNoLedger() {
        machine.on(program.pid(), 300 * MIB);

        assertThat(findingsAfter(1, REPORTING)).isEmpty();
        assertThat(findingsAfter(2, REPORTING)).containsExactly(new AuditFinding("unknown", program.pid(), SELF, GPU, "sleep 100", "",
                ContainerId.of(program.pid()), 300 * MIB, 0, START.plusSeconds(1), "reported"));
    }

    @Test
    void shouldFindNoProcessThatIsInOrder() {
        machine.on(program.pid(), 300 * MIB);
        machine.tenant("train", program.pid(), 240 * MIB);

        assertThat(findingsAfter(5, REPORTING)).isEmpty();
    }

    @Test
    void shouldFindAProcessThatHoldsMoreThanItsLedgerSays() {
        machine.on(program.pid(), 300 * MIB);
        machine.tenant("train", program.pid(), 200 * MIB);

        assertThat(findingsAfter(2, REPORTING)).isEmpty();
        assertThat(findingsAfter(3, REPORTING)).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo("over");
            assertThat(finding.tenant()).isEqualTo("train");
            assertThat(finding.ledgerBytes()).isEqualTo(200 * MIB);
        });
    }

    @Test
    void shouldTolerateContextsThatALibraryDoesNotBook() {
        machine.on(program.pid(), 900 * MIB);
        Path file = machine.unlimited("share", program.pid(), 200 * MIB);
        assertThat(findingsAfter(5, REPORTING)).as("no quota").isEmpty();

        AuditFolder.bookContext(file, 100 * MIB);
        assertThat(findingsAfter(5, REPORTING)).as("no quota, a context and no code").isEmpty();

        machine.onGpu.clear();
        machine.on(program.pid(), 2000 * MIB);
        assertThat(findingsAfter(3, REPORTING)).as("more than contexts and code").hasSize(1);
    }

    @Test
    void shouldTolerateALedgerWithAQuotaThatHasNoContext() {
        machine.on(program.pid(), 900 * MIB);
        AuditFolder.bookContext(machine.tenant("train", program.pid(), 200 * MIB), 0);

        assertThat(findingsAfter(5, REPORTING)).isEmpty();
    }

    @Test
    void shouldTolerateATwentiethOfALargeLedger() {
        machine.on(program.pid(), 10_400 * MIB);
        machine.tenant("train", program.pid(), 10_000 * MIB);

        assertThat(findingsAfter(4, REPORTING)).isEmpty();
    }

    @Test
    void shouldNotAccuseAProcessThatTakesAndGivesBack() {
        machine.tenant("train", program.pid(), 200 * MIB);
        int[] asked = new int[1];
        Audit audit = new Audit(() -> List.of(new OnGpu(0, GPU, program.pid(), asked[0]++ % 4 == 3 ? 200 * MIB : 2000 * MIB, false)),
                Set.of(GPU), REPORTING, machine);

        for (int look = 0; look < 12; look++) {
            assertThat(machine.look(audit)).isEmpty();
        }
    }

    private Audit auditOfTwoGpus() {
        return new Audit(() -> List.copyOf(machine.onGpu), Set.of(GPU, OTHER_GPU), REPORTING, machine);
    }

    @Test
    void shouldCountTheLooksOnEachGpuByThemselves() {
        machine.on(program.pid(), 300 * MIB);
        machine.onGpu.add(new OnGpu(1, OTHER_GPU, program.pid(), 300 * MIB, false));
        Audit audit = auditOfTwoGpus();

        assertThat(machine.look(audit)).as("one look at two GPUs").isEmpty();
        assertThat(machine.look(audit)).extracting(found -> found.suspect().on().uuid()).containsExactly(GPU, OTHER_GPU);
    }

    @Test
    void shouldNotExcuseWhatIsOnOneGpuByTheLedgerOfAnother() {
        machine.on(program.pid(), 2000 * MIB);
        machine.onGpu.add(new OnGpu(1, OTHER_GPU, program.pid(), 2000 * MIB, false));
        machine.tenant("train", program.pid(), 2000 * MIB);
        Audit audit = auditOfTwoGpus();
        machine.look(audit);
        machine.look(audit);

        assertThat(machine.look(audit)).extracting(found -> found.suspect().on().uuid()).containsExactly(OTHER_GPU);
    }

    @Test
    void shouldForgetAProcessThatLeft() {
        machine.on(program.pid(), 300 * MIB);
        Audit audit = machine.audit(REPORTING);
        machine.look(audit);
        assertThat(machine.look(audit)).hasSize(1);
        machine.onGpu.clear();

        assertThat(machine.look(audit)).isEmpty();
        machine.on(program.pid(), 300 * MIB);
        assertThat(machine.look(audit)).isEmpty();
    }

    @Test
    void shouldNotBeMisledByARegionThatNamesAnothersProcess() {
        machine.on(program.pid(), 300 * MIB);
        machine.tenant("a-liar", program.pid(), 0);
        machine.tenant("train", program.pid(), 300 * MIB);
        machine.tenant("z-liar", program.pid(), 0);

        assertThat(findingsAfter(4, REPORTING)).isEmpty();
    }

    @Test
    void shouldFindTheRegionThatAProcessHasElsewhere() throws Exception {
        RuntimeDirectory elsewhere = new RuntimeDirectory(Files.createDirectory(folder.resolve("elsewhere")));
        Path region = AuditFolder.tenant(elsewhere, "train", program.pid(), 0);
        Process mapping = GpuProgram.mapping(folder, region);
        try {
            machine.on(mapping.pid(), 300 * MIB);
            assertThat(findingsAfter(2, REPORTING)).as("mapped, but not in it").hasSize(1);
            AuditFolder.claim(region, mapping.pid(), 300 * MIB);

            assertThat(findingsAfter(4, REPORTING)).isEmpty();
        } finally {
            mapping.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldNotJudgeUsersWhoseLedgersAreUnknown() {
        machine.on(program.pid(), 300 * MIB);
        machine.on(4_000_000, 300 * MIB);

        assertThat(findingsAfter(3, AuditRules.reporting(SELF + 1, false))).isEmpty();
        assertThat(findingsAfter(3, AuditRules.reporting(SELF + 1, true))).hasSize(1);
    }

    @Test
    void shouldAllowUsersAndCommands() {
        machine.on(program.pid(), 300 * MIB);
        String file = AuditedProcess.read(program.pid()).orElseThrow().executable();

        assertThat(findingsAfter(3, allowing(Set.of(SELF), Set.of()))).isEmpty();
        assertThat(findingsAfter(3, allowing(Set.of(), Set.of(Path.of(file).getFileName().toString())))).isEmpty();
        assertThat(findingsAfter(3, allowing(Set.of(), Set.of(file)))).isEmpty();
        assertThat(findingsAfter(3, allowing(Set.of(SELF + 1), Set.of("/tmp/sleep", "sle")))).hasSize(1);
    }

    private static AuditRules allowing(Set<Long> users, Set<String> commands) {
        return new AuditRules(SELF, false, 64 * MIB, users, commands, AuditRules.Stop.NEVER, Set.of(), false, Duration.ZERO, Duration.ZERO);
    }

    @Test
    void shouldNotTakeAProgramForADisplayServerByItsName() throws Exception {
        Path fake = folder.resolve("Xorg");
        Files.copy(Path.of(AuditedProcess.read(program.pid()).orElseThrow().executable()), fake);
        fake.toFile().setExecutable(true);
        fake.toFile().setWritable(true, false);
        Process server = GpuProgram.start(folder, fake.toString(), "100");
        try {
            machine.on(server.pid(), 300 * MIB);
            assertThat(AuditedProcess.read(server.pid()).orElseThrow().program()).isEqualTo("Xorg");
            assertThat(findingsAfter(2, REPORTING)).hasSize(1);
        } finally {
            server.destroyForcibly().waitFor();
        }
    }
}
