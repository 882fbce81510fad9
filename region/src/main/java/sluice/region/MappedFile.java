package sluice.region;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import sluice.linux.Descriptor;
import sluice.linux.SharedMemory;
import sluice.linux.UnusableFileException;
import sluice.region.layout.HeaderView;
import sluice.region.layout.RegionLayout;
import sluice.region.place.RuntimeFile;

/// A whole file in memory, shared with all processes that map it.
///
/// @param owner the user that owns it; of a region in two files, the owner of the part that the tenant writes
public record MappedFile(Path file, Arena arena, MemorySegment segment, long owner) implements AutoCloseable {

    private record Mapped(MemorySegment segment, long owner) {}

    /// How a file is opened: [RuntimeFile] and [RegionFolder] do it by the same rules.
    interface Opener {
        Descriptor open(Path file, boolean write) throws IOException;
    }

    public static MappedFile readOnly(Path file) throws IOException {
        return map(file, Arena.ofShared(), false, RuntimeFile::open);
    }

    /// For the thread that calls, and no other: closing a shared arena handshakes with every thread, which dominates a short look.
    static MappedFile readOnlyHere(Path file, Opener opener) throws IOException {
        return map(file, Arena.ofConfined(), false, opener);
    }

    public static MappedFile readWrite(Path file) throws IOException {
        return map(file, Arena.ofShared(), true, RuntimeFile::open);
    }

    /// A file that breaks the rules counts as empty.
    private static MappedFile map(Path file, Arena arena, boolean write, Opener opener) throws IOException {
        try {
            Mapped mapped = map(file, write, arena, opener);
            return new MappedFile(file, arena, mapped.segment(), mapped.owner());
        } catch (UnusableFileException e) {
            return new MappedFile(file, arena, MemorySegment.NULL, -1);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static Mapped map(Path file, boolean write, Arena arena, Opener opener) throws IOException {
        try (Descriptor first = opener.open(file, write)) {
            long bytes = first.checked().bytes();
            if (bytes == RegionLayout.PAGE_BYTES && Files.exists(RegionFile.ledger(file), LinkOption.NOFOLLOW_LINKS)) {
                return split(file, first, write, arena, opener);
            }
            return new Mapped(bytes == 0 ? MemorySegment.NULL : SharedMemory.map(first, bytes, write, arena), first.checked().uid());
        }
    }

    /// A region in two files, for a tenant that must not write its limits: page 0 in `NAME.region`, which only the agent writes, and
    /// the rest in `NAME.ledger`, at the same places as in a whole region. In memory they are one again. If the ledger is too short, the
    /// file counts as empty.
    private static Mapped split(Path file, Descriptor limits, boolean write, Arena arena, Opener opener) throws IOException {
        try (Descriptor ledger = opener.open(RegionFile.ledger(file), write)) {
            if (ledger.checked().bytes() < RegionLayout.REGION_BYTES) {
                return new Mapped(MemorySegment.NULL, ledger.checked().uid());
            }
            MemorySegment page = SharedMemory.map(limits, RegionLayout.PAGE_BYTES, false, arena);
            long bytes = Math.clamp(HeaderView.of(page).regionBytes(), RegionLayout.REGION_BYTES, ledger.checked().bytes());
            MemorySegment whole = SharedMemory.map(ledger, bytes, write, arena);
            SharedMemory.mapOver(whole, limits, RegionLayout.PAGE_BYTES, write);
            return new Mapped(whole, ledger.checked().uid());
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
