package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

class RegionTest {
    @TempDir
    private Path folder;

    @Test
    void shouldWriteWhatTheDraftSays() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        try (Region region = Region.openReadOnly(file)) {
            assertThat(region.header().tenant()).isEqualTo("job");
            assertThat(region.header().command()).isEqualTo("python train.py");
            assertThat(region.header().rootIdentity()).isEqualTo(Identity.self().word());
            assertThat(region.header().uid()).isEqualTo(ThisProcess.current().uid());
            assertThat(region.header().onError()).isEqualTo(1);
            assertThat(region.header().pageBytes()).isEqualTo(RegionLayout.PAGE_BYTES);
            assertThat(region.header().regionBytes()).isEqualTo(RegionLayout.REGION_BYTES);
            assertThat(region.limits().memoryBytes(0)).isEqualTo(1L << 30);
            assertThat(region.limits().memoryBytes(15)).isEqualTo(1L << 30);
        }
        assertThat(Files.size(file)).isEqualTo(RegionLayout.REGION_BYTES);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }

    @Test
    void shouldLeaveNoOtherFile() throws Exception {
        TestRegion.create(folder, "job", Identity.self());

        assertThat(folder).isDirectoryContaining(path -> path.endsWith("job.region"));
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void shouldCutALongCommandBetweenCharacters() throws Exception {
        RegionDraft draft = new RegionDraft("job", "é".repeat(600), Identity.self(), OnError.RUN, MemoryLimits.none());
        Path file = Region.create(TestRegion.directory(folder), draft);

        try (Region region = Region.openReadOnly(file)) {
            assertThat(region.header().command()).isEqualTo("é".repeat(255));
        }
    }

    @Test
    void shouldRefuseTheNameOfARunningTenant() throws Exception {
        TestRegion.create(folder, "job", Identity.self());

        assertThatThrownBy(() -> TestRegion.create(folder, "job", Identity.self()))
                .isInstanceOf(SluiceException.class).hasMessageContaining("is running already")
                .hasMessageContaining("'job'")
                .hasMessageContaining("--name");
        assertThat(folder.toFile().list()).hasSize(1);
    }

    /// Those that an agent registers come in two files.
    @Test
    void shouldRefuseTheNameOfARunningTenantToAnAgentToo() throws Exception {
        Path running = Region.createSplit(TestRegion.directory(folder), TestRegion.draft("job", Identity.self()), ThisProcess.current().uid());
        long created = Tenant.read(running).createdNanos();

        assertThatThrownBy(() -> Region.createSplit(TestRegion.directory(folder), TestRegion.draft("job", Identity.self()), ThisProcess.current().uid()))
                .isInstanceOf(SluiceException.class).hasMessageContaining("is running already");
        assertThat(Tenant.read(running).createdNanos()).isEqualTo(created);
    }

    @Test
    void shouldTakeTheNameOfAnEndedTenant() throws Exception {
        TestRegion.create(folder, "job", TestRegion.DEAD);

        Path file = TestRegion.create(folder, "job", Identity.self());

        assertThat(Tenant.read(file).state().lives()).isTrue();
        assertThat(folder.toFile().list()).hasSize(1);
    }

    @Test
    void shouldFollowNoLink() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        Path link = Files.createSymbolicLink(folder.resolve("other.region"), file);

        assertThatThrownBy(() -> Region.openReadOnly(link)).isInstanceOf(SluiceException.class);
        assertThatThrownBy(() -> Region.openReadWrite(link)).isInstanceOf(SluiceException.class);
    }

    @Test
    @Timeout(30)
    void shouldNotWaitForTheOtherEndOfAPipe() throws Exception {
        Path pipe = folder.resolve("job.region");
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();

        assertThatThrownBy(() -> Region.openReadOnly(pipe)).isInstanceOf(RegionException.NotARegion.class);
    }

    @Test
    void shouldNameBothLayouts() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        patch(file, RegionLayout.HEADER_LAYOUT_OFFSET, 9);

        assertThatThrownBy(() -> Region.openReadOnly(file))
                .isInstanceOf(RegionException.LayoutMismatch.class)
                .hasMessageContaining("layout 9")
                .hasMessageContaining("layout " + RegionLayout.LAYOUT);
        assertThatThrownBy(() -> TestRegion.create(folder, "job", Identity.self()))
                .isInstanceOf(RegionException.LayoutMismatch.class);
    }

    @Test
    void shouldRefuseATruncatedRegion() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(5000);
        }

        assertThatThrownBy(() -> Region.openReadOnly(file))
                .isInstanceOf(RegionException.Truncated.class)
                .hasMessageContaining("5000 bytes")
                .hasMessageContaining(Long.toString(RegionLayout.REGION_BYTES));
    }

    @Test
    void shouldRefuseWhatIsNoRegion() throws Exception {
        Path text = Files.writeString(folder.resolve("text.region"), "this is not a region at all");
        Path empty = Files.createFile(folder.resolve("empty.region"));

        assertThatThrownBy(() -> Region.openReadOnly(text)).isInstanceOf(RegionException.NotARegion.class);
        assertThatThrownBy(() -> Region.openReadOnly(empty)).isInstanceOf(RegionException.NotARegion.class);
        assertThatThrownBy(() -> Region.openReadOnly(folder)).isInstanceOf(SluiceException.class);
        assertThatThrownBy(() -> Region.openReadOnly(folder.resolve("none"))).hasMessageContaining("there is no region");
    }

    @Test
    void shouldNotLetALookingToolWrite() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        try (Region region = Region.openReadOnly(file)) {
            assertThatThrownBy(() -> region.slot(0).owner(1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void patch(Path file, long offset, int value) throws Exception {
        try (RandomAccessFile region = new RandomAccessFile(file.toFile(), "rw")) {
            region.seek(offset);
            region.writeInt(Integer.reverseBytes(value));
        }
    }
}
