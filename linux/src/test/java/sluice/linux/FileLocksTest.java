package sluice.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileLocksTest {
    private static final FileRules ANY = new FileRules(FileRules.ANYBODY, 100, 1);

    @TempDir
    Path path;

    @Test
    void shouldKeepALockWhenAnotherDescriptorOfTheFileIsClosed() throws IOException {
        Files.createFile(path.resolve("lock"));
        try (Folder folder = Folder.open(path); Descriptor other = folder.openDescriptor("lock", ANY, true)) {
            Descriptor ours = folder.openDescriptor("lock", ANY, true);
            assertThat(FileLocks.take(ours, 0, 0)).isTrue();
            FileChannel.open(path.resolve("lock"), StandardOpenOption.WRITE).close();
            folder.read("lock", ANY);

            assertThat(FileLocks.state(other, 0, 0)).isEqualTo(FileLocks.State.HELD);
            assertThat(FileLocks.take(other, 0, 0)).isFalse();
            ours.close();
            assertThat(FileLocks.take(other, 0, 0)).isTrue();
        }
    }

    @Test
    void shouldLockBytesApart() throws IOException {
        Files.createFile(path.resolve("lock"));
        try (Folder folder = Folder.open(path);
                Descriptor ours = folder.openDescriptor("lock", ANY, true);
                Descriptor other = folder.openDescriptor("lock", ANY, true)) {
            assertThat(FileLocks.take(ours, 3, 1)).isTrue();

            assertThat(FileLocks.state(other, 2, 1)).isEqualTo(FileLocks.State.FREE);
            assertThat(FileLocks.state(other, 3, 1)).isEqualTo(FileLocks.State.HELD);
        }
    }
}
