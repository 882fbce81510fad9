package sluice.agent.audit;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import sluice.cuda.Nvml;
import sluice.cuda.NvmlHealth;
import sluice.region.Tenant;
import sluice.region.Tenants;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.ThisProcess;

/// One audit without an agent: a few looks, half a second apart. Root audits all users, any other user only its own processes.
public final class AuditOnce implements Audit.Ledgers {
    private static final int LOOKS = 3;
    private static final long APART_MILLIS = 500;
    private static final List<Path> PLACES = List.of(Path.of("/dev/shm"), Path.of("/tmp"));

    private final List<RuntimeDirectory> directories;

    private AuditOnce(List<RuntimeDirectory> directories) {
        this.directories = directories;
    }

    /// @param own folders of this user's tenants
    public static AuditReport make(List<RuntimeDirectory> own) {
        Optional<Nvml> library = Nvml.open();
        if (library.isEmpty()) {
            return new AuditReport(false, List.of(), List.of());
        }
        int uid = ThisProcess.current().uid();
        List<RuntimeDirectory> directories = new ArrayList<>(own);
        if (uid == 0) {
            RuntimeDirectory.ofAllUsers(PLACES).stream().filter(each -> !own.contains(each)).forEach(directories::add);
        }
        AuditNvml nvml = new AuditNvml(library.get());
        Audit audit = new Audit(nvml, Set.copyOf(nvml.uuids().values()), AuditRules.reporting(Integer.toUnsignedLong(uid), uid == 0),
                new AuditOnce(directories));
        List<AuditFinding> findings = looks(audit).stream().map(found -> found.suspect().finding(found.since(), AuditFinding.REPORTED)).toList();
        return new AuditReport(true, gpus(library.get(), nvml), findings);
    }

    private static List<Audit.Found> looks(Audit audit) {
        List<Audit.Found> found = audit.look(Instant.now());
        for (int look = 1; look < LOOKS && audit.suspects(); look++) {
            Audit.pause(APART_MILLIS);
            found = audit.look(Instant.now());
        }
        return found;
    }

    private static List<AuditReport.Gpu> gpus(Nvml library, AuditNvml nvml) {
        try (NvmlHealth health = new NvmlHealth(library, List.of())) {
            AuditHealth words = new AuditHealth((gpu, text) -> {});
            return nvml.uuids().entrySet().stream().map(gpu -> {
                NvmlHealth.Health now = health.of(gpu.getKey());
                return new AuditReport.Gpu(gpu.getKey(), gpu.getValue(), now.temperatureCelsius(), words.words(gpu.getKey(), now, Instant.now()));
            }).toList();
        }
    }

    @Override
    public List<Tenant> last() {
        return fresh();
    }

    @Override
    public List<Tenant> fresh() {
        return new Tenants(directories).list();
    }
}
