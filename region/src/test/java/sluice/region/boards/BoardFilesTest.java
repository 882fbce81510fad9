package sluice.region.boards;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.TestRegion;
import sluice.region.place.RuntimeDirectory;

class BoardFilesTest {
    private static final FileTime LONG_AGO = FileTime.from(Instant.now().minus(Duration.ofHours(1)));

    @TempDir
    private Path folder;
    private Path board;
    private BoardFiles files;

    @BeforeEach
    void make() throws Exception {
        RuntimeDirectory directory = TestRegion.directory(folder);
        board = folder.resolve("board-" + "0".repeat(32));
        files = new BoardFiles(directory);
    }

    @Test
    void shouldSeeEachChangeAtOnce() throws Exception {
        for (int change = 0; change < 300; change++) {
            Files.createFile(board);
            assertThat(files.now()).containsExactly(board);
            Files.delete(board);
            assertThat(files.now()).isEmpty();
        }
    }

    @Test
    void shouldListAgainOnlyAfterAChange() throws Exception {
        Files.createFile(board);
        Files.setLastModifiedTime(folder, LONG_AGO);
        assertThat(files.now()).containsExactly(board);

        Files.delete(board);
        Files.setLastModifiedTime(folder, LONG_AGO);
        assertThat(files.now()).as("the folder has its old time").containsExactly(board);

        Files.createFile(folder.resolve("job.region"));
        assertThat(files.now()).isEmpty();
    }

    @Test
    void shouldSeeNothingInAFolderThatIsGone() throws Exception {
        Files.createFile(board);
        assertThat(files.now()).hasSize(1);
        Files.delete(board);
        Files.delete(folder);

        assertThat(files.now()).isEqualTo(List.of());
        Files.createDirectory(folder);
    }
}
