package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.place.AgentLock;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Root's tools look into a folder that another user changes meanwhile.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "root, by what lies in a user's folder")
class HostileFolderTest {
    private static final int USER = 1_234_567_890;
    private static final int LOOKS = 500;

    @TempDir
    private Path place;
    private Path folder;
    private Path elsewhere;

    @BeforeEach
    void make() throws IOException {
        assumeTrue(ThisProcess.current().uid() == 0, "only root looks into folders of others");
        folder = Files.createDirectory(place.resolve("sluice-" + USER));
        elsewhere = Files.createDirectory(place.resolve("elsewhere"));
        TestRegion.create(folder, "job", TestRegion.DEAD);
        give(folder.resolve("job.region"), USER);
        give(folder, USER);
    }

    private static void give(Path file, int uid) throws IOException {
        Files.setAttribute(file, "unix:uid", uid);
    }

    private Tenants tenants() {
        return new Tenants(List.of(new RuntimeDirectory(folder)));
    }

    @Test
    void shouldFindTheFolderOfAUserWithALargeNumber() {
        assertThat(RuntimeDirectory.ofAllUsers(List.of(place))).containsExactly(new RuntimeDirectory(folder));
    }

    @Test
    void shouldReadOnlyFilesOfTheUserOfTheFolder() throws IOException {
        Path secret = TestRegion.create(elsewhere, "secret", TestRegion.DEAD);
        Files.createLink(folder.resolve("linked.region"), secret);
        Files.createSymbolicLink(folder.resolve("soft.region"), secret);

        assertThat(tenants().list()).extracting(Tenant::name).containsExactly("job");
        assertThatThrownBy(() -> Region.openReadWrite(folder.resolve("linked.region"))).isInstanceOf(RegionException.NotARegion.class);
    }

    @Test
    void shouldNotMapAFileThatClaimsToBeHuge() throws IOException {
        Path huge = folder.resolve("huge.region");
        Files.copy(folder.resolve("job.region"), huge);
        try (FileChannel channel = FileChannel.open(huge, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), 1L << 40);
        }
        give(huge, USER);

        assertThat(tenants().list()).hasSize(1);
    }

    @Test
    @Fault(kind = Fault.Kind.SWAP, of = "files in a user's folder, under root's looks")
    void shouldLookAtAFileThatIsSwappedForAPipe() throws Exception {
        Path pipe = folder.resolve("pipe");
        Path plain = Files.copy(folder.resolve("job.region"), folder.resolve("plain"));
        give(plain, USER);
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
        AtomicBoolean done = new AtomicBoolean();
        Thread attacker = Thread.ofPlatform().start(() -> {
            for (int at = 0; !done.get(); at++) {
                try {
                    Files.createLink(folder.resolve("next"), at % 2 == 0 ? pipe : plain);
                    Files.move(folder.resolve("next"), folder.resolve("swapped.region"), StandardCopyOption.ATOMIC_MOVE);
                    Files.deleteIfExists(folder.resolve("next"));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        for (int look = 0; look < LOOKS; look++) {
            assertThat(tenants().list()).isNotEmpty();
        }
        done.set(true);
        attacker.join();
    }

    @Test
    @Fault(kind = Fault.Kind.SWAP, of = "files in a user's folder, under root's looks")
    void shouldNotBeLedElsewhereByAFolderThatBecameALink() throws IOException {
        Files.createFile(elsewhere.resolve("old.tmp"));
        Files.move(folder, place.resolve("moved"));
        Files.createSymbolicLink(folder, elsewhere);
        RuntimeDirectory directory = new RuntimeDirectory(folder);

        assertThatThrownBy(() -> AgentLock.take(directory, 1)).isInstanceOf(SluiceException.class);
        tenants().sweep(Instant.now().plus(Duration.ofDays(1)));

        assertThat(elsewhere.resolve("agent.lock")).doesNotExist();
        assertThat(elsewhere.resolve("old.tmp")).exists();
        assertThat(tenants().list()).isEmpty();
    }

    @Test
    void shouldTakeTheLockWhateverHasItsName() throws IOException {
        Path secret = Files.writeString(elsewhere.resolve("secret"), "secret");
        RuntimeDirectory directory = new RuntimeDirectory(folder);
        for (String kind : new String[] {"soft", "hard", "large"}) {
            Path lock = folder.resolve("agent.lock");
            Files.deleteIfExists(lock);
            switch (kind) {
                case "soft" -> Files.createSymbolicLink(lock, secret);
                case "hard" -> Files.createLink(lock, secret);
                default -> give(Files.write(lock, new byte[100]), USER);
            }
            try (AgentLock ours = AgentLock.take(directory, 7).orElseThrow()) {
                assertThat(ours).isNotNull();
                assertThat(AgentLock.holder(directory)).as(kind).hasValue(7L);
                assertThat(AgentLock.take(directory, 8)).as(kind).isEmpty();
                assertThat((Integer) Files.getAttribute(lock, "unix:uid")).isEqualTo(USER);
            }
            assertThat(secret).hasContent("secret");
            assertThat((Integer) Files.getAttribute(secret, "unix:uid")).isZero();
        }
    }

    @Test
    void shouldShowNoEscapeSequences() throws IOException {
        try (Region region = Region.openReadWrite(folder.resolve("job.region"))) {
            region.header().tenant("a\u001b]0;title\u0007\u009b2J");
            region.header().command("b\u001b[31m\u202eevil\r\n");

            Tenant tenant = Tenant.read(folder.resolve("job.region"));

            assertThat(tenant.name()).isEqualTo("a\ufffd]0;title\ufffd\ufffd2J");
            assertThat(tenant.command()).doesNotContainPattern("[\\p{Cntrl}\u202e]");
        }
    }

    @Test
    void shouldNotShowTheCommandLineOfAnotherUsersProcess() throws IOException {
        try (Region region = Region.openReadWrite(folder.resolve("job.region")); Ledger forged = Ledger.claim(region, Identity.self())) {
            TestRegion.gpu(region, 0, 0);
            forged.reserve(0, 100, 0);

            List<TenantProcess> processes = Tenant.read(folder.resolve("job.region")).processes();

            assertThat(processes).hasSize(1);
            assertThat(processes.getFirst().commandLine()).isEmpty();
        }
    }
}
