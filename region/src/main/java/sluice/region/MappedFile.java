package sluice.region;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// A whole file in memory, shared with whoever else maps it.
record MappedFile(Path file, Arena arena, MemorySegment segment) implements AutoCloseable {

    static MappedFile readOnly(Path file) throws IOException {
        return map(file, MapMode.READ_ONLY, Set.of(StandardOpenOption.READ));
    }

    static MappedFile readWrite(Path file) throws IOException {
        return map(file, MapMode.READ_WRITE, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /// What is no regular file is mapped as an empty one.
    private static MappedFile map(Path file, MapMode mode, Set<StandardOpenOption> options) throws IOException {
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, options)) {
            long bytes = Files.isRegularFile(file) ? channel.size() : 0;
            return new MappedFile(file, arena, bytes == 0 ? MemorySegment.NULL : channel.map(mode, 0, bytes, arena));
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
