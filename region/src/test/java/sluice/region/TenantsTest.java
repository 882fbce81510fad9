package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;
import sluice.region.place.HeldLock;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.ThisProcess;

class TenantsTest {
    @TempDir
    private Path folder;

    private Tenants tenants() throws Exception {
        return new Tenants(List.of(TestRegion.directory(folder)));
    }

    @Test
    void shouldCountOnlyLiveOwners() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        try (Region region = Region.openReadWrite(file);
                Ledger mine = Ledger.claim(region, Identity.self());
                Ledger dead = Ledger.claim(region, TestRegion.DEAD)) {
            TestRegion.gpu(region, 0, 3);
            region.limits().memoryBytes(3, 1000);
            mine.reserve(0, 100, 0);
            dead.reserve(0, 900, 0);

            TenantGpu gpu = Tenant.read(file).gpus().getFirst();

            assertThat(gpu.index()).isEqualTo(3);
            assertThat(gpu.usedBytes()).isEqualTo(100);
            assertThat(gpu.limitBytes()).isEqualTo(1000);
        }
    }

    @Test
    void shouldNotCountAProcessThatBecameAnotherProgram() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        try (Region region = Region.openReadWrite(file); Ledger before = Ledger.claim(region, Identity.self())) {
            TestRegion.gpu(region, 0, 0);
            before.reserve(0, 100, 0);
            region.slot(before.slot()).image(12345);

            assertThat(Tenant.read(file).gpus().getFirst().usedBytes()).isZero();
        }
    }

    @Test
    void shouldSeeByItsLockWhetherAProcessOfAnotherNamespaceLives() throws Throwable {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file); Ledger elsewhere = Ledger.claim(region, Identity.of(7, 4711))) {
            TestRegion.gpu(region, 0, 0);
            elsewhere.reserve(0, 100, 0);
            SlotView slot = region.slot(elsewhere.slot());
            slot.pidNamespace(TenantReader.pidNamespace() + 1);
            assertThat(Tenant.read(file).state().lives()).describedAs("without a lock nobody can know").isTrue();

            slot.owner(slot.owner() | Identity.SIGNED);
            try (HeldLock lock = HeldLock.of(file, elsewhere.slot())) {
                assertThat(lock.file()).isPositive();
                Tenant held = Tenant.read(file);
                assertThat(held.state().lives()).isTrue();
                assertThat(held.gpus().getFirst().usedBytes()).isEqualTo(100);
                assertThat(held.processes().getFirst().identity()).isEqualTo(Identity.of(7, 4711));
            }

            Tenant ended = Tenant.read(file);
            assertThat(ended.state().lives()).isFalse();
            assertThat(ended.gpus().getFirst().usedBytes()).isZero();
        }
    }

    @Test
    void shouldGiveATenantOfAnotherNamespaceTimeForItsFirstProcess() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file)) {
            region.header().pidNamespace(TenantReader.pidNamespace() + 1);
            assertThat(Tenant.read(file).state().lives()).isTrue();

            region.header().createdNanos(region.header().createdNanos() - 700_000_000_000L);
            assertThat(Tenant.read(file).state().lives()).isFalse();
        }
    }

    @Test
    void shouldRunWhileAnySlotIsOwnedByALiveProcess() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        assertThat(Tenant.read(file).state().lives()).isFalse();

        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            assertThat(ledger.slot()).isZero();
            assertThat(Tenant.read(file).state().lives()).isTrue();
        }
    }

    @Test
    void shouldFindByNamePrefixPidAndPath() throws Exception {
        Path file = TestRegion.create(folder, "train-1", Identity.self());
        TestRegion.create(folder, "train-12", TestRegion.DEAD);

        assertThat(tenants().find("train-1").name()).isEqualTo("train-1");
        assertThat(tenants().find("train-12").name()).isEqualTo("train-12");
        assertThat(tenants().find(Long.toString(Identity.self().pid())).name()).isEqualTo("train-1");
        assertThat(tenants().find(file.toString()).name()).isEqualTo("train-1");
        assertThatThrownBy(() -> tenants().find("other")).hasMessageContaining("no tenant 'other'");
    }

    @Test
    void shouldPreferTheOneThatRunsAmongThoseThatBeginSo() throws Exception {
        TestRegion.create(folder, "train-1", TestRegion.DEAD);
        TestRegion.create(folder, "train-12", TestRegion.DEAD);
        assertThatThrownBy(() -> tenants().find("tra")).hasMessageContaining("several tenants (train-1, train-12)");

        TestRegion.create(folder, "train-2", Identity.self());
        assertThat(tenants().find("tra").name()).isEqualTo("train-2");

        TestRegion.create(folder, "train-3", Identity.self());
        assertThatThrownBy(() -> tenants().find("tra")).hasMessageContaining("several tenants (train-2, train-3)");
    }

    @Test
    void shouldKeepAnEndedTenantForAQuarterOfAnHour() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        try (Region region = Region.openReadWrite(file)) {
            TestRegion.gpu(region, 0, 0);
        }
        Instant ended = Instant.now();

        tenants().sweep(ended);
        tenants().sweep(ended.plus(Duration.ofMinutes(14)));
        assertThat(file).exists();

        tenants().sweep(ended.plus(Duration.ofMinutes(16)));
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldSoonForgetATenantThatNeverUsedAGpu() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        Instant ended = Instant.now();

        tenants().sweep(ended);
        assertThat(file).exists();

        tenants().sweep(ended.plus(Duration.ofMinutes(2)));
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldCountTheQuarterOfAnHourFromTheEndOfALongJob() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(9)).plusNanos(1)));

        tenants().sweep(Instant.now());

        assertThat(file).exists();
    }

    @Test
    void shouldNeverSweepARunningTenant() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        tenants().sweep(Instant.now().plus(Duration.ofDays(2)));
        tenants().sweep(Instant.now().plus(Duration.ofDays(4)));

        assertThat(file).exists();
    }

    @Test
    void shouldSweepFilesOfCreatorsThatDied() throws Exception {
        Path stale = Files.createFile(folder.resolve(".job.17.tmp"));

        tenants().sweep(Instant.now());
        assertThat(stale).exists();

        tenants().sweep(Instant.now().plus(Duration.ofMinutes(2)));
        assertThat(stale).doesNotExist();
    }

    @Test
    void shouldSweepTheLedgerWithItsTenantAndNoOther() throws Exception {
        Path ended = Region.createSplit(TestRegion.directory(folder), TestRegion.draft("ended", TestRegion.DEAD), ThisProcess.current().uid());
        Path running = Region.createSplit(TestRegion.directory(folder), TestRegion.draft("running", Identity.self()), ThisProcess.current().uid());
        assertThat(List.of(Region.ledger(ended), Region.ledger(running))).allMatch(Files::exists);

        tenants().sweep(Instant.now());
        tenants().sweep(Instant.now().plus(Duration.ofMinutes(2)));

        assertThat(List.of(ended, Region.ledger(ended))).noneMatch(Files::exists);
        assertThat(List.of(running, Region.ledger(running))).allMatch(Files::exists);
    }

    private void leave(int temporaryFiles) throws Exception {
        for (int at = 0; at < temporaryFiles; at++) {
            Files.setLastModifiedTime(Files.createFile(folder.resolve(".job." + at + ".tmp")), FileTime.from(Instant.now().minus(Duration.ofHours(1))));
        }
    }

    private long temporaryFiles() throws Exception {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".tmp")).count();
        }
    }

    /// A look at every file costs each start of a job time.
    @Test
    void shouldSweepAFolderOnlyWhenFilesGatherAndNotAgainAtOnce() throws Exception {
        Instant now = Instant.now();
        leave(20);
        Tenants.sweepSometimes(TestRegion.directory(folder), now);
        assertThat(temporaryFiles()).as("few files").isEqualTo(20);

        tenants().sweep(now);
        leave(40);
        Tenants.sweepSometimes(TestRegion.directory(folder), now);
        assertThat(temporaryFiles()).isZero();

        leave(40);
        Tenants.sweepSometimes(TestRegion.directory(folder), now.plus(Duration.ofMinutes(4)));
        assertThat(temporaryFiles()).as("four minutes after the last sweep").isEqualTo(40);
        Tenants.sweepSometimes(TestRegion.directory(folder), now.plus(Duration.ofMinutes(6)));
        assertThat(temporaryFiles()).as("six minutes after").isZero();
    }

    @Test
    void shouldSayWhichFilesCannotBeRead() throws Exception {
        Files.writeString(folder.resolve("x.region"), "nonsense");

        Tenants.Look look = tenants().look(Processes.BY_PROC);

        assertThat(look.tenants()).isEmpty();
        assertThat(look.unreadable()).singleElement().asString().contains("x.region is not a region");
    }

    /// So that `sluice ps` reads each region once.
    @Test
    void shouldTellWhatASweepHasLeft() throws Exception {
        TestRegion.create(folder, "ended", TestRegion.DEAD);
        TestRegion.create(folder, "running", Identity.self());
        Files.writeString(folder.resolve("x.region"), "nonsense");

        assertThat(tenants().sweep(Instant.now()).tenants()).extracting(Tenant::name).containsExactly("ended", "running");
        Tenants.Look left = tenants().sweep(Instant.now().plus(Duration.ofMinutes(2)));

        assertThat(left.tenants()).extracting(Tenant::name).containsExactly("running");
        assertThat(left.unreadable()).singleElement().asString().contains("x.region is not a region");
        assertThat(folder.resolve("ended.region")).doesNotExist();
    }

    @Test
    void shouldFindProcessesInAllSlots() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        int[] slots = {0, 63, 64, 200, RegionLayout.SLOT_COUNT - 1};
        try (Region region = Region.openReadWrite(file)) {
            for (int slot : slots) {
                region.slot(slot).owner(Identity.self().word());
            }
        }

        assertThat(tenants().list().getFirst().processes()).extracting(TenantProcess::slot).containsExactly(0, 63, 64, 200, RegionLayout.SLOT_COUNT - 1);
    }

    /// A pid may be given out again during a look.
    @Test
    void shouldAskAboutEachProcessThatLivesOnce() throws Exception {
        Processes once = Processes.once();
        Process child = new ProcessBuilder("sleep", "100").start();
        Identity living = Identity.of(child.pid()).orElseThrow();
        Identity before = Identity.of(child.pid(), living.startTicks() - 1);

        assertThat(once.isAlive(before, 0)).as("the process that had the pid before").isFalse();
        assertThat(once.isAlive(living, 0)).isTrue();
        assertThat(once.isAlive(living, 1)).as("another program").isFalse();
        child.destroyForcibly().waitFor();
        assertThat(once.isAlive(living, 0)).as("in the same look").isTrue();
        assertThat(once.isAlive(before, 0)).isFalse();
        assertThat(Processes.once().isAlive(living, 0)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {RegionLayout.PAGE_BYTES, RegionLayout.SLOT_OFFSET, RegionLayout.SLOT_OFFSET + RegionLayout.PAGE_BYTES})
    void shouldSurviveAFileThatShrinksWhileItIsRead(long bytes) throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        try (Region region = Region.openReadOnly(file); var cut = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            cut.truncate(bytes);

            assertThatThrownBy(() -> new TenantReader(region).read()).isInstanceOf(InternalError.class);
        }
        assertThatThrownBy(() -> Tenant.read(file)).isInstanceOf(RegionException.Truncated.class);
    }
}
