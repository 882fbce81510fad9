package sluice.agent;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.agent.MachineLook.TenantLook;
import sluice.cuda.Nvml;
import sluice.cuda.NvmlHealth;
import sluice.region.Tenant;
import sluice.region.ThisProcess;

/// The audit as a part of the agent: it looks by a clock of its own, tells what it finds, and stops what it is asked to stop. Without
/// NVML it does nothing.
final class AuditPart implements Part {
    private static final Duration HEALTH_EVERY = Duration.ofSeconds(10);
    private static final String EVENT = "audit";

    private AgentContext context;
    private Optional<AuditNvml> nvml = Optional.empty();
    private Audit audit;
    private AuditStop stop;
    private NvmlHealth health;
    private AuditHealth words;
    private Clock clock;
    private Map<AuditSuspect.Key, AuditSuspect> standing = Map.of();
    private Instant healthAt = Instant.EPOCH;
    private volatile List<AuditFinding> findings = List.of();
    private volatile Map<String, List<String>> ill = Map.of();

    @Override
    public List<Setting<?>> settings() {
        return AuditSettings.ALL;
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/v1/audit", "Processes that use a GPU in a way that no ledger knows, and the health of GPUs.", this::answer));
    }

    private Answer answer(Request request) {
        MachineLook look = context.machine().fresh().seenBy(request.caller());
        Set<String> known = new HashSet<>(nvml.map(found -> found.uuids().values()).orElse(List.of()));
        List<AuditReport.Gpu> gpus = look.gpus().stream().filter(gpu -> known.contains(gpu.uuid()))
                .map(gpu -> new AuditReport.Gpu(gpu.index(), gpu.uuid(), gpu.temperatureCelsius(), gpu.health())).toList();
        return Answer.json(new AuditReport(nvml.isPresent(), gpus, look.findings())::write);
    }

    @Override
    public void start(AgentContext started) {
        context = started;
        Optional<Nvml> library = Nvml.open();
        nvml = library.map(AuditNvml::new);
        if (nvml.isEmpty()) {
            return;
        }
        long self = Integer.toUnsignedLong(ThisProcess.current().uid());
        AuditRules rules = AuditSettings.rules(started.settings(), self);
        audit = new Audit(nvml.get(), Set.copyOf(nvml.get().uuids().values()), rules, new Looks(started.machine()));
        stop = new AuditStop(rules, (suspect, text) -> tell(suspect, text, true));
        health = new NvmlHealth(library.get(), List.copyOf(nvml.get().uuids().keySet()));
        words = new AuditHealth((gpu, text) -> started.machine().events().add("health", "", self, "GPU " + gpu + ": " + text));
        if (!Namespaces.seesAllPids()) {
            started.log().println("sluice: the audit sees only the processes of this container; run the agent in the host's pid namespace");
        }
        started.machine().findings(() -> findings);
        started.machine().health(uuid -> ill.getOrDefault(uuid, List.of()));
        clock = new Clock("audit", started.settings().get(AuditSettings.EVERY).toMillis(), this::look, started.log());
    }

    /// Ledgers as the machine's looks have them.
    private record Looks(Machine machine) implements Audit.Ledgers {
        @Override
        public List<Tenant> last() {
            return tenants(machine.last());
        }

        @Override
        public List<Tenant> fresh() {
            return tenants(machine.fresh());
        }

        private static List<Tenant> tenants(MachineLook look) {
            return look.tenants().stream().map(TenantLook::tenant).toList();
        }
    }

    private void look() {
        Instant now = Instant.now();
        List<Audit.Found> found = audit.look(now);
        Map<AuditSuspect.Key, AuditSuspect> here = new HashMap<>();
        for (Audit.Found each : found) {
            here.put(each.suspect().key(), each.suspect());
            if (!standing.containsKey(each.suspect().key())) {
                tell(each.suspect(), each.suspect().text(), false);
            }
        }
        standing.forEach((key, suspect) -> {
            if (!here.containsKey(key)) {
                tell(suspect, suspect.who() + " is no longer to be found on GPU " + suspect.on().gpu() + ", or is in order", false);
            }
        });
        standing = here;
        findings = stop.step(found, now);
        lookAtHealth(now);
    }

    private void tell(AuditSuspect suspect, String text, boolean log) {
        context.machine().events().add(EVENT, suspect.held().map(AuditLedgers.Held::tenant).orElse(""), suspect.process().uid(), text);
        if (log) {
            context.log().println("sluice: audit " + text);
        }
    }

    private void lookAtHealth(Instant now) {
        List<NvmlHealth.Xid> xids = health.xids();
        xids.forEach(xid -> words.see(xid, now));
        if (!xids.isEmpty() || Duration.between(healthAt, now).compareTo(HEALTH_EVERY) >= 0) {
            healthAt = now;
            Map<String, List<String>> all = new HashMap<>();
            nvml.orElseThrow().uuids().forEach((gpu, uuid) -> all.put(uuid, words.words(gpu, health.of(gpu), now)));
            ill = Map.copyOf(all);
        }
    }

    @Override
    public void close() {
        if (clock != null) {
            clock.close();
            stop.close();
            health.close();
        }
    }
}
