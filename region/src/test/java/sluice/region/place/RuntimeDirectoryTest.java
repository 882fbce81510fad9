package sluice.region.place;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuntimeDirectoryTest {
    private static final int UID = ThisProcess.current().uid();

    @TempDir
    private Path folder;

    @Test
    void shouldMakeTheChosenFolder() throws Exception {
        Path chosen = folder.resolve("regions");

        assertThat(RuntimeDirectory.find(chosen.toString(), UID).path()).isEqualTo(chosen);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(chosen))).isEqualTo("rwx------");
    }

    @Test
    void shouldRefuseAFolderThatOthersMayEnter() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));

        assertThatThrownBy(() -> RuntimeDirectory.find(folder.toString(), UID))
                .hasMessageContaining("mode 755")
                .hasMessageContaining("SLUICE_RUNTIME_DIR");
    }

    @Test
    void shouldRefuseALinkToAFolder() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("target")));

        assertThatThrownBy(() -> RuntimeDirectory.find(link.toString(), UID)).hasMessageContaining("is not a directory");
    }

    @Test
    void shouldRefuseAFolderOfAnotherUser() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));

        assertThatThrownBy(() -> RuntimeDirectory.find(folder.toString(), UID + 1)).hasMessageContaining("another user");
    }

    @Test
    void shouldSayThatTheParentIsMissing() {
        assertThatThrownBy(() -> RuntimeDirectory.find(folder.resolve("no/where").toString(), UID))
                .hasMessageContaining("cannot be made (no such file or directory)");
    }

    @Test
    void shouldRefuseAFolderThatCannotBeWritten() throws Exception {
        assumeTrue(UID != 0, "root may write everywhere");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-x------"));

        assertThatThrownBy(() -> RuntimeDirectory.find(folder.toString(), UID)).hasMessageContaining("not writable");
    }

    @Test
    void shouldRefuseAReadOnlyFileSystem() {
        assertThatThrownBy(() -> RuntimeDirectory.find("/proc/sluice", UID)).hasMessageContaining("cannot be made");
    }
}
