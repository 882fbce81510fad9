package sluice.region.boards;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import sluice.linux.Folder;
import sluice.region.place.RuntimeDirectory;

/// The boards of a folder, for an agent that reads them many times in a second: listing a thousand names each time costs more than
/// planning. The kernel changes the time of a folder with each name that is added or removed.
public final class BoardFiles {
    /// That time has steps of up to 10 ms. A name that is added in the same step as a listing may not be in it.
    private static final Duration STEP = Duration.ofMillis(100);

    private final RuntimeDirectory directory;
    private Instant listedChange = Instant.MIN;
    private List<Path> named = List.of();

    public BoardFiles(RuntimeDirectory directory) {
        this.directory = directory;
    }

    /// What [Board#files] says.
    public List<Path> now() {
        Instant change = changed();
        if (!change.equals(listedChange)) {
            boolean settled = change.plus(STEP).isBefore(Instant.now());
            named = Board.named(directory);
            listedChange = settled ? change : Instant.MIN;
        }
        return Stream.concat(named.stream(), Board.withoutName(directory).stream()).toList();
    }

    private Instant changed() {
        try (Folder folder = Folder.open(directory.path())) {
            return folder.status().modified();
        } catch (IOException e) {
            // The folder is gone, and so are its boards.
            return Instant.EPOCH;
        }
    }
}
