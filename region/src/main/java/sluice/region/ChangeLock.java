package sluice.region;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import sluice.linux.Descriptor;
import sluice.linux.FileLocks;
import sluice.region.place.RuntimeFile;

/// One tool at a time changes the limits of a tenant, because a change reads all limits and writes all of them.
///
/// A tenant can hold the lock of its own region for ever. So a tool waits for two seconds, then goes on without it.
final class ChangeLock implements AutoCloseable {
    /// Beyond the end of any region.
    private static final long PLACE = 1L << 40;
    private static final long PATIENCE_NANOS = 2_000_000_000L;
    private static final long PAUSE_NANOS = 1_000_000;

    private final Descriptor file;

    private ChangeLock(Descriptor file) {
        this.file = file;
    }

    static ChangeLock of(Path region) {
        try {
            Descriptor file = RuntimeFile.open(region, true);
            long end = System.nanoTime() + PATIENCE_NANOS;
            while (!FileLocks.take(file, PLACE, 1) && System.nanoTime() < end) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            return new ChangeLock(file);
        } catch (IOException e) {
            throw Region.cannotOpen(region, e);
        }
    }

    @Override
    public void close() {
        file.close();
    }
}
