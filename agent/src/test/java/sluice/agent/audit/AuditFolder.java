package sluice.agent.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sluice.agent.audit.AuditSuspect.OnGpu;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.Tenants;
import sluice.region.layout.GpuView;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// Regions in a folder, a GPU, and an audit of both.
final class AuditFolder implements Audit.Ledgers {
    static final String GPU = "GPU-00000000-0000-0000-0000-000000000000";
    static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    static final long MIB = 1L << 20;

    final List<OnGpu> onGpu = new ArrayList<>();
    private final RuntimeDirectory directory;
    private int looks;

    AuditFolder(Path folder) throws IOException {
        directory = new RuntimeDirectory(Files.createDirectories(folder.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
    }

    Audit audit(AuditRules rules) {
        return new Audit(() -> List.copyOf(onGpu), Set.of(GPU), rules, this);
    }

    /// One look, a second after the last.
    List<Audit.Found> look(Audit audit) {
        return audit.look(now());
    }

    Instant now() {
        return START.plusSeconds(looks++);
    }

    OnGpu on(long pid, long usedBytes) {
        OnGpu on = new OnGpu(0, GPU, pid, usedBytes, false);
        onGpu.add(on);
        return on;
    }

    /// A tenant whose ledger says what one process holds.
    Path tenant(String name, long pid, long bytes) {
        return tenant(directory, name, pid, bytes);
    }

    static Path tenant(RuntimeDirectory in, String name, long pid, long bytes) {
        Path file = tenant(in, name, pid, MemoryLimits.parse("64g"), bytes);
        bookContext(file, MIB);
        return file;
    }

    /// A tenant without a quota, whose library books no contexts.
    Path unlimited(String name, long pid, long bytes) {
        return tenant(directory, name, pid, MemoryLimits.none(), bytes);
    }

    /// As a part of what the first process holds.
    static void bookContext(Path file, long bytes) {
        try (Region region = Region.openReadWrite(file)) {
            region.account(0, 0).contextBytes(bytes);
        }
    }

    private static Path tenant(RuntimeDirectory in, String name, long pid, MemoryLimits quota, long bytes) {
        Identity process = Identity.of(pid).orElseThrow();
        Path file = Region.create(in, new RegionDraft(name, "", process, OnError.FAIL, quota));
        try (Region region = Region.openReadWrite(file)) {
            GpuView gpu = region.gpu(0);
            gpu.uuid(new byte[16]);
            gpu.owner(1);
        }
        claim(file, pid, bytes);
        return file;
    }

    static void claim(Path file, long pid, long bytes) {
        try (Region region = Region.openReadWrite(file)) {
            Ledger.claim(region, Identity.of(pid).orElseThrow()).reserve(0, bytes, 0);
        }
    }

    @Override
    public List<Tenant> last() {
        return fresh();
    }

    @Override
    public List<Tenant> fresh() {
        return new Tenants(List.of(directory)).list();
    }
}
