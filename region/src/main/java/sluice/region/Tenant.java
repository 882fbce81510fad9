package sluice.region;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.pause.Command;
import sluice.region.pause.TenantPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeFile;
import sluice.region.place.SluiceException;

/// The state of a tenant at one moment, as its region showed it.
///
/// @param state it lives while the process it began with, or any that has a slot, does
/// @param asked the last command
public record Tenant(
        Path file,
        String name,
        String command,
        TenantState state,
        Command asked,
        Identity root,
        long createdNanos,
        long uid,
        long limitsEpoch,
        Limits limits,
        List<TenantGpu> gpus,
        List<TenantProcess> processes,
        List<TenantError> errors) {

    /// Reads the region in a file.
    public static Tenant read(Path file) {
        return read(file, Processes.BY_PROC);
    }

    /// The same, for a caller that knows which processes live.
    public static Tenant read(Path file, Processes known) {
        return read(file, known, RuntimeFile::open);
    }

    static Tenant read(Path file, Processes known, MappedFile.Opener opener) {
        try (Region region = Region.openHere(file, opener)) {
            return new TenantReader(region, known).read();
        } catch (InternalError e) {
            // The JVM's error for a mapped page that is not there: the file was truncated during the read.
            throw new RegionException.Truncated(file, 0, RegionLayout.REGION_BYTES);
        }
    }

    /// Whether the file is the region of a tenant that lives. A file that cannot be read as a region of this layout may be one of another
    /// layout in use. So the answer is no only for a file that is surely no region, or has ended.
    static boolean lives(Path file) {
        try {
            return read(file).state().lives();
        } catch (RegionException.LayoutMismatch | RegionException.UnknownFeature e) {
            throw e;
        } catch (SluiceException e) {
            return false;
        }
    }

    /// Whether its GPU time was measured between two looks. A tenant that lost its share uses the GPU unmeasured.
    public boolean isMeasured(GpuTime now, GpuTime earlier) {
        return compute().takesPart() || now.usedNanos() != earlier.usedNanos();
    }

    public MemoryLimits memory() {
        return limits.memory();
    }

    public ComputeLimits compute() {
        return limits.compute();
    }

    /// What is under way to pause or resume it, and where its memory is.
    public TenantPause pause() {
        return TenantPause.of(asked, liveProcesses().stream().map(TenantProcess::pause).toList());
    }

    /// Why its caps hold only as without `strict`, as part of a sentence. Empty when they are enforced as asked, or no process has tried yet.
    public Optional<String> notStrict() {
        if (!compute().strict() || compute().caps().isEmpty()) {
            return Optional.empty();
        }
        return liveProcesses().stream().map(TenantProcess::slices).filter(TimeSlices::failed).findFirst().map(slices -> "time slices are " + slices.text());
    }

    /// Processes that live.
    public List<TenantProcess> liveProcesses() {
        return processes.stream().filter(TenantProcess::alive).toList();
    }
}
