package sluice.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import sluice.region.layout.GpuView;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// Regions for tests, in a folder of their own.
public final class TestRegion {
    public static final Identity DEAD = new Identity(1L << 22 | 4_000_000);

    private TestRegion() {}

    public static RuntimeDirectory directory(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        return RuntimeDirectory.find(folder.toString(), ThisProcess.current().uid());
    }

    static RegionDraft draft(String tenant, Identity root) {
        return new RegionDraft(tenant, "python train.py", root, OnError.FAIL, MemoryLimits.parse("1g"));
    }

    public static Path create(Path folder, String tenant, Identity root) throws IOException {
        return Region.create(directory(folder), draft(tenant, root));
    }

    public static void gpu(Region region, int entry, int index) {
        GpuView gpu = region.gpu(entry);
        gpu.index(index);
        gpu.name("Test GPU");
        gpu.granularityBytes(2 << 20);
        gpu.totalBytes(16L << 30);
        gpu.owner(1);
    }
}
