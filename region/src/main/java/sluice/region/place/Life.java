package sluice.region.place;

import java.io.IOException;
import java.nio.file.Path;
import sluice.linux.Descriptor;
import sluice.linux.FileLocks;

/// Whether processes that took places in a shared file still live. Each holds a lock on a byte of the file, in whatever pid namespace it
/// runs; the kernel drops the lock with the process. `native/src/os/life.h` has the rules.
public final class Life implements AutoCloseable {
    private final Path file;
    private Descriptor descriptor;
    private boolean opened;

    /// Opens the file at the first query.
    public Life(Path file) {
        this.file = file;
    }

    /// Whether any process has the place.
    public FileLocks.State of(long place) {
        if (!opened) {
            opened = true;
            descriptor = open(file);
        }
        return descriptor == null ? FileLocks.State.UNKNOWN : FileLocks.state(descriptor, place, 1);
    }

    private static Descriptor open(Path file) {
        try {
            return RuntimeFile.open(file, false);
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public void close() {
        if (descriptor != null) {
            descriptor.close();
        }
    }
}
