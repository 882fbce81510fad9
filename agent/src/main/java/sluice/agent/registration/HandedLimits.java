package sluice.agent.registration;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sluice.linux.Descriptor;
import sluice.linux.Futex;
import sluice.linux.SharedMemory;
import sluice.region.layout.RegionLayout;
import sluice.region.place.SluiceException;

/// The page 0 that a tenant gets: memory without a file that only this process can write. It is sealed after this process has mapped it.
/// From then on no descriptor can write it, not even a new one of root.
///
/// The agent's own page 0 is in the region's file; [#follow] copies what tools write there.
final class HandedLimits implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long COMMAND = RegionLayout.LIMITS_COMMAND_OFFSET;

    private final Descriptor descriptor;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment source;
    private final MemorySegment handed;

    HandedLimits(Path region) {
        try (FileChannel file = FileChannel.open(region, StandardOpenOption.READ)) {
            source = file.map(FileChannel.MapMode.READ_ONLY, 0, RegionLayout.PAGE_BYTES, arena);
            descriptor = SharedMemory.create("sluice-limits", RegionLayout.PAGE_BYTES);
            handed = SharedMemory.map(descriptor, RegionLayout.PAGE_BYTES, true, arena);
            SharedMemory.sealAgainstWriters(descriptor);
        } catch (IOException e) {
            throw new SluiceException("cannot hand out the limits of " + region + " (" + SluiceException.reason(e) + "); this needs Linux 5.1", e);
        }
        follow();
    }

    /// For the tenant.
    int descriptor() {
        return descriptor.number();
    }

    /// Size of the whole region.
    long regionBytes() {
        return source.get(JAVA_LONG, RegionLayout.HEADER_REGION_BYTES_OFFSET);
    }

    /// The number by which the tenant's processes identify this memory.
    long inode() {
        try {
            return descriptor.status().inode();
        } catch (IOException e) {
            throw new SluiceException("cannot look at handed limits (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// Copies changed limits: first all but the word that counts their changes, then that word. Processes wait for commands in this
    /// memory, so this also wakes them.
    synchronized void follow() {
        boolean command = (long) WORD.getVolatile(source, COMMAND) != (long) WORD.getVolatile(handed, COMMAND);
        for (long at = 0; at < RegionLayout.PAGE_BYTES; at += Long.BYTES) {
            if (at != RegionLayout.LIMITS_OFFSET) {
                copy(at);
            }
        }
        copy(RegionLayout.LIMITS_OFFSET);
        if (command) {
            Futex.wakeAll(handed.asSlice(COMMAND, Integer.BYTES));
        }
    }

    private void copy(long at) {
        long word = (long) WORD.getVolatile(source, at);
        if ((long) WORD.getVolatile(handed, at) != word) {
            WORD.setVolatile(handed, at, word);
        }
    }

    @Override
    public synchronized void close() {
        arena.close();
        descriptor.close();
    }
}
