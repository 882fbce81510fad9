package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.claims.DeclaredClaims;
import sluice.agent.machine.EventLog;
import sluice.agent.os.RegisteringPeer;
import sluice.fault.Fault;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.LimitSource;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Tenants of several users and jobs: none takes the place, the limits or the files of another.
@Timeout(60)
class RegisteredTenantsTest {
    private static final long SELF = Integer.toUnsignedLong(ThisProcess.current().uid());
    private static final long ALICE = 64001;
    private static final long BOB = 64002;
    private static final int KEPT_OF_A_USER = 32;

    @TempDir
    private Path folder;

    private RuntimeDirectory directory;
    private RegisteredTenants tenants;
    private final List<Process> jobs = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        directory = new RuntimeDirectory(Files.createDirectory(folder.resolve("run"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        tenants = new RegisteredTenants(directory, new EventLog(), new RegisteredTenants.Bounds(4, 2));
    }

    @AfterEach
    void stop() throws Exception {
        tenants.close();
        for (Process job : jobs) {
            end(job);
        }
    }

    private Process job() throws Exception {
        jobs.add(new ProcessBuilder("sleep", "100").start());
        return jobs.getLast();
    }

    private static void end(Process job) throws Exception {
        job.destroyForcibly().waitFor();
    }

    private static RegisteringPeer peer(long uid, Process job) {
        return new RegisteringPeer(uid, Identity.of(job.pid()).orElseThrow(), "/", Optional.empty());
    }

    private Path make(String key, long uid, Process job) {
        RegisteringPeer peer = peer(uid, job);
        return tenants.make(key, new RegionDraft(nameOf(key), "", peer.process(), OnError.FAIL, MemoryLimits.parse("1g")), peer).file();
    }

    private static String nameOf(String key) {
        return key.replaceFirst("~.*", "");
    }

    private static void assumeRoot() {
        assumeTrue(SELF == 0, "only root can give ledgers to other users");
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's registration")
    void shouldBoundTheTenantsOfAUser() throws Exception {
        Process first = job();
        make("a", SELF, first);
        make("b", SELF, job());

        assertThatThrownBy(() -> make("c", SELF, job())).hasMessageContaining("there are 2 tenants already, 2 of them user " + SELF + "'s");
        end(first);
        assertThat(make("c", SELF, job())).as("the first has ended").exists();
    }

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "the agent's registration")
    void shouldBoundAllTenantsTogether() throws Exception {
        assumeRoot();
        make("a", ALICE, job());
        make("b", ALICE, job());
        assertThatThrownBy(() -> make("c", ALICE, job())).hasMessageContaining("2 of them user " + ALICE);
        make("c", BOB, job());
        make("d", SELF, job());

        assertThatThrownBy(() -> make("e", BOB, job())).hasMessageContaining("there are 4 tenants already, 1 of them user " + BOB);
    }

    @Test
    void shouldInheritFromAncestorsOfTheSameUserOnly() throws Exception {
        Process job = job();
        make("train", SELF, job);
        make("other", SELF, job());

        assertThat(tenants.inherited(peer(SELF, job)).map(RegisteredTenant::name)).contains("train");
        assertThat(tenants.inherited(peer(SELF + 1, job))).as("the same process, as another user").isEmpty();
    }

    private void endMany(long uid, int count) throws Exception {
        RegisteredTenants.Bounds enough = new RegisteredTenants.Bounds(1000, 1000);
        tenants.close();
        tenants = new RegisteredTenants(directory, new EventLog(), enough);
        Process many = job();
        for (int at = 0; at < count; at++) {
            make("many-" + at, uid, many);
        }
        end(many);
        tenants.forgetEnded();
    }

    private long files(String suffix) throws Exception {
        try (var files = Files.list(directory.path())) {
            return files.filter(file -> file.toString().endsWith(suffix)).count();
        }
    }

    @Test
    void shouldKeepRegionAndLedgerOfTheLastThatEnded() throws Exception {
        endMany(SELF, KEPT_OF_A_USER + 3);

        assertThat(files(".region")).isEqualTo(KEPT_OF_A_USER);
        assertThat(files(".ledger")).isEqualTo(KEPT_OF_A_USER);
    }

    @Test
    void shouldKeepWhatEndedOfEachUserApart() throws Exception {
        assumeRoot();
        endMany(BOB, 0);
        Process job = job();
        Path alices = make("alice", ALICE, job);
        end(job);
        tenants.forgetEnded();
        Process many = job();
        for (int at = 0; at < KEPT_OF_A_USER + 1; at++) {
            make("bob-" + at, BOB, many);
        }
        end(many);
        tenants.forgetEnded();

        assertThat(files(".region")).isEqualTo(1 + KEPT_OF_A_USER);
        assertThat(alices).exists();
    }

    @Test
    void shouldNotDeleteTheFileOfAJobThatCameBack() throws Exception {
        endMany(SELF, 0);
        Process before = job();
        make("train", SELF, before);
        end(before);
        tenants.forgetEnded();
        Path file = make("train", SELF, job());
        Process many = job();
        for (int at = 0; at < KEPT_OF_A_USER + 1; at++) {
            make("many-" + at, SELF, many);
        }
        end(many);
        tenants.forgetEnded();

        assertThat(files(".region")).isEqualTo(1 + KEPT_OF_A_USER);
        assertThat(List.of(file, Region.ledger(file))).allMatch(Files::exists);
    }

    @Test
    void shouldBoundATenantByItsOwnRuleAndNotByThatOfItsNamesake() throws Exception {
        PolicyFile policy = new PolicyFile(Files.writeString(folder.resolve("policy"), "label=big -> memory=8g\n* -> memory=1g\n"));
        try (Registrar registrar = new Registrar(directory, policy, new DeclaredClaims(folder.resolve("claims")), new EventLog(), false)) {
            Process job = job();
            Path file = registrar.run(peer(SELF, job), "-", "train", "", GivenLimits.none(LimitSource.COMMAND_LINE)).tenant().file();
            Tenant before = Tenant.read(file);
            assertThat(registrar.bounds(before).orElseThrow().limits().memory().bytes(0)).isEqualTo(1L << 30);
            end(job);
            registrar.run(peer(SELF, job()), "big", "train", "", GivenLimits.none(LimitSource.COMMAND_LINE));

            assertThat(registrar.bounds(Tenant.read(file)).orElseThrow().limits().memory().bytes(0)).isEqualTo(8L << 30);
            assertThat(registrar.bounds(before)).as("it has ended").isEmpty();
        }
    }

    /// Makes a tenant whose first process has ended. Another process, that did not register, is in its ledger.
    private boolean outlivesItsFirstProcess(String key) throws Exception {
        Process first = job();
        Path file = make(key, SELF, first);
        try (Region region = Region.openReadWrite(file)) {
            region.slot(0).owner(Identity.of(job().pid()).orElseThrow().word());
        }
        end(first);
        tenants.forgetEnded();
        return tenants.get(key).isPresent();
    }

    @Test
    void shouldJudgeOnlyContainersByTheirCgroups() throws Exception {
        endMany(SELF, 0);
        assertThat(outlivesItsFirstProcess("c-shared")).as("a rule of the policy, or a program 'c', named it").isTrue();
        assertThat(outlivesItsFirstProcess(RegisteredTenants.keyOf("c-0123456789ab-0123456789ab", SELF))).as("a user named it").isTrue();
        assertThat(outlivesItsFirstProcess("c-0123456789ab-0123456789ab")).as("no process is in the container").isFalse();
    }
}
