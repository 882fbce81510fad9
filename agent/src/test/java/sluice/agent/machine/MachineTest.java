package sluice.agent.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;

@Timeout(300)
class MachineTest {
    private final EventLog events = new EventLog();
    private boolean fails;
    private final Machine machine = new Machine(this::directories, new Gpus(Optional.empty()), Processes.BY_PROC, events);

    private List<RuntimeDirectory> directories() {
        if (fails) {
            throw new IllegalStateException("cannot look");
        }
        return List.of();
    }

    /// Who reads all these folders needs no look of the agent.
    @Test
    void shouldKnowWhetherItSeesMoreThanSomeFolders() {
        var two = new Machine(() -> List.of(new RuntimeDirectory(Path.of("/one")), new RuntimeDirectory(Path.of("/two"))),
                new Gpus(Optional.empty()), Processes.BY_PROC, events);

        assertThat(two.looksOnlyIn(Set.of("/one", "/two", "/three"))).isTrue();
        assertThat(two.looksOnlyIn(Set.of("/one"))).isFalse();
    }

    /// The audit first has a finding and then tells of it.
    @Test
    void shouldShowNoEventWithoutItsFinding() {
        machine.findings(() -> {
            events.add("audit", "", 0, "found in this moment");
            return List.of();
        });

        assertThat(machine.look().events()).isEmpty();
        assertThat(machine.look().events()).hasSize(1);
    }

    @Test
    void shouldNotShowAnOldLookWhenTheNewOneFails() throws Exception {
        var asked = new FutureTask<>(machine::fresh);
        Thread client = new Thread(asked);
        synchronized (machine) {
            client.start();
            while (client.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            fails = true;
            assertThatIllegalStateException().isThrownBy(machine::look);
            fails = false;
        }

        assertThat(asked.get().number()).isEqualTo(1);
    }

    @Test
    void shouldLookAtNoMoreTenantsOfOneUserThanItCan(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        var directory = new RuntimeDirectory(folder);
        Path first = Region.create(directory, new RegionDraft("t", "", Identity.self(), OnError.FAIL, MemoryLimits.none()));
        ByteBuffer page = ByteBuffer.wrap(Arrays.copyOf(Files.readAllBytes(first), 4096));
        for (int tenant = 0; tenant < 2100; tenant++) {
            try (FileChannel sparse = FileChannel.open(folder.resolve("t" + tenant + ".region"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                sparse.write(page.rewind(), 0);
                sparse.write(ByteBuffer.allocate(1), Files.size(first) - 1);
            }
        }
        var bounded = new Machine(() -> List.of(directory), new Gpus(Optional.empty()), Processes.BY_PROC, events);

        assertThat(bounded.look().tenants()).hasSize(2048);
        bounded.look();
        assertThat(events.last(10)).filteredOn(event -> event.kind().equals("bound")).hasSize(1);
    }

    /// A user can fill a folder with files that are no regions. Each costs a look as much as a tenant.
    @Test
    void shouldLookAtFewFilesThatAreNoRegions(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        for (int file = 0; file < 1500; file++) {
            Files.write(folder.resolve("noise" + file + ".region"), new byte[64]);
        }
        var bounded = new Machine(() -> List.of(new RuntimeDirectory(folder)), new Gpus(Optional.empty()), Processes.BY_PROC, events);

        bounded.look();

        assertThat(bounded.leftOut()).isEqualTo(500);
    }

    /// Clients share the looks that they ask for, so a folder that takes long would make all of them wait.
    @Test
    void shouldReadAFolderWithTooMuchInItByTheClockAlone(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        for (int file = 0; file < 1500; file++) {
            Files.write(folder.resolve("noise" + file + ".region"), new byte[64]);
        }
        var directory = new RuntimeDirectory(folder);
        var bounded = new Machine(() -> List.of(directory), new Gpus(Optional.empty()), Processes.BY_PROC, events);
        bounded.look();

        for (int file = 0; file < 1500; file++) {
            Files.delete(folder.resolve("noise" + file + ".region"));
        }
        Region.create(directory, new RegionDraft("t", "", Identity.self(), OnError.FAIL, MemoryLimits.none()));
        assertThat(bounded.fresh().tenants()).isEmpty();
        bounded.tick();
        assertThat(bounded.fresh().tenants()).hasSize(1);
        assertThat(bounded.leftOut()).isZero();
    }
}
