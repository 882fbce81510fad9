package sluice.region;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;

/// A whole file in memory, shared with whoever else maps it.
record MappedFile(Path file, Arena arena, MemorySegment segment) implements AutoCloseable {

    static MappedFile readOnly(Path file) throws IOException {
        return map(file, Arena.ofShared(), MapMode.READ_ONLY, options(file, StandardOpenOption.READ));
    }

    /// For the thread that calls, and no other. To unmap what others may use the JVM has to halt each of them once, which is
    /// the most of what a short look costs.
    static MappedFile readOnlyHere(Path file) throws IOException {
        return map(file, Arena.ofConfined(), MapMode.READ_ONLY, options(file, StandardOpenOption.READ));
    }

    static MappedFile readWrite(Path file) throws IOException {
        return map(file, Arena.ofShared(), MapMode.READ_WRITE, options(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /// What is no regular file is taken for an empty one, and not opened: a pipe would wait for its other end. A link is not
    /// followed: who looks at the folder of another user must not be led elsewhere.
    private static MappedFile map(Path file, Arena arena, MapMode mode, Set<OpenOption> options) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            return new MappedFile(file, arena, MemorySegment.NULL);
        }
        try (FileChannel channel = FileChannel.open(file, options)) {
            long bytes = channel.size();
            if (bytes == RegionLayout.PAGE_BYTES && Files.exists(RegionFile.ledger(file), LinkOption.NOFOLLOW_LINKS)) {
                return new MappedFile(file, arena, SplitRegion.map(file, mode == MapMode.READ_WRITE, arena));
            }
            return new MappedFile(file, arena, bytes == 0 ? MemorySegment.NULL : channel.map(mode, 0, bytes, arena));
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// An open file of this very process is a link too.
    private static Set<OpenOption> options(Path file, OpenOption... options) {
        Set<OpenOption> all = new HashSet<>(Set.of(options));
        if (!file.startsWith("/proc")) {
            all.add(LinkOption.NOFOLLOW_LINKS);
        }
        return all;
    }

    @Override
    public void close() {
        arena.close();
    }
}
