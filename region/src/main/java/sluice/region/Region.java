package sluice.region;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// The mapped file of one tenant. What its fields mean, and who may write them when, is said in `spec/region.abi`.
public final class Region implements AutoCloseable {
    private static final int LAYOUT_END = 12;

    private final Path file;
    private final Arena arena;
    private final MemorySegment segment;

    private Region(Path file, Arena arena, MemorySegment segment) {
        this.file = file;
        this.arena = arena;
        this.segment = segment;
    }

    /// Makes the region of a new tenant, in the place of an ended one with the same name.
    public static Path create(RuntimeDirectory directory, RegionDraft draft) {
        return RegionFile.create(directory, draft);
    }

    /// Opens a region for a tool that looks.
    public static Region openReadOnly(Path file) {
        return open(file, MapMode.READ_ONLY, Set.of(StandardOpenOption.READ));
    }

    /// Opens a region for a process that takes part in it, or for a tool that changes its limits.
    public static Region openReadWrite(Path file) {
        return open(file, MapMode.READ_WRITE, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    private static Region open(Path file, MapMode mode, Set<StandardOpenOption> options) {
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, options)) {
            if (!Files.isRegularFile(file)) {
                throw new RegionException.NotARegion(file);
            }
            MemorySegment segment = channel.map(mode, 0, channel.size(), arena);
            check(file, segment);
            return new Region(file, arena, segment);
        } catch (NoSuchFileException e) {
            arena.close();
            throw new SluiceException("there is no region " + file + "; 'sluice ps --all' lists the tenants", e);
        } catch (IOException e) {
            arena.close();
            throw new SluiceException("cannot open region " + file + " (" + RuntimeDirectory.reason(e)
                    + "); only the user who owns the tenant can", e);
        } catch (SluiceException e) {
            arena.close();
            throw e;
        }
    }

    private static void check(Path file, MemorySegment segment) {
        long bytes = segment.byteSize();
        if (bytes < Long.BYTES || segment.get(ValueLayout.JAVA_LONG, 0) != RegionLayout.MAGIC) {
            throw new RegionException.NotARegion(file);
        }
        if (bytes < LAYOUT_END) {
            throw new RegionException.Truncated(file, bytes, RegionLayout.REGION_BYTES);
        }
        int layout = segment.get(ValueLayout.JAVA_INT, Long.BYTES);
        if (layout != RegionLayout.LAYOUT) {
            throw new RegionException.LayoutMismatch(file, layout);
        }
        if (bytes < RegionLayout.REGION_BYTES || HeaderView.of(segment).regionBytes() > bytes) {
            throw new RegionException.Truncated(file, bytes, Math.max(RegionLayout.REGION_BYTES, HeaderView.of(segment).regionBytes()));
        }
    }

    public Path file() {
        return file;
    }

    public HeaderView header() {
        return HeaderView.of(segment);
    }

    public LimitsView limits() {
        return LimitsView.of(segment);
    }

    public GpuView gpu(int entry) {
        return GpuView.at(segment, entry);
    }

    public ErrorView error(int entry) {
        return ErrorView.at(segment, entry);
    }

    public SlotView slot(int slot) {
        return SlotView.at(segment, slot);
    }

    /// What the owner of a slot holds on the GPU of an entry.
    public AccountView account(int slot, int gpuEntry) {
        return AccountView.at(segment, slot * RegionLayout.GPU_COUNT + gpuEntry);
    }

    @Override
    public void close() {
        arena.close();
    }
}
