package sluice.agent.audit;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sluice.agent.http.Answer;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.agent.os.Namespaces;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Clock;
import sluice.agent.part.Part;
import sluice.agent.settings.Setting;
import sluice.api.json.AuditJson;
import sluice.api.model.AuditReport;
import sluice.cuda.Nvml;
import sluice.cuda.NvmlHealth;
import sluice.region.Tenant;
import sluice.region.place.ThisProcess;

/// The audit as a part of the agent, with a clock of its own. Without NVML it does nothing.
public final class AuditPart implements Part {
    private AgentContext context;
    private Optional<AuditNvml> nvml = Optional.empty();
    private NvmlHealth health;
    private AuditWatch watch;
    private Clock clock;

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
        return Answer.json(json -> AuditJson.write(json, new AuditReport(nvml.isPresent(), gpus, look.findings())));
    }

    @Override
    public void start(AgentContext started) {
        context = started;
        Optional<Nvml> library = Nvml.open();
        nvml = library.map(AuditNvml::new);
        if (nvml.isEmpty()) {
            return;
        }
        Map<Integer, String> uuids = nvml.get().uuids();
        AuditRules rules = AuditSettings.rules(started.settings(), Integer.toUnsignedLong(ThisProcess.current().uid()));
        Audit audit = new Audit(nvml.get(), Set.copyOf(uuids.values()), rules, new Looks(started.machine()));
        health = new NvmlHealth(library.get(), List.copyOf(uuids.keySet()));
        watch = new AuditWatch(audit, rules, new AuditWatch.Health(uuids, health::xids, health::of), started.machine().events(), started.log());
        if (!Namespaces.seesAllPids()) {
            started.log().println("sluice: the audit sees only the processes of this container; run the agent in the host's pid namespace");
        }
        started.machine().findings(watch::findings);
        started.machine().health(watch::health);
        clock = started.clock("audit", started.settings().get(AuditSettings.EVERY).toMillis(), () -> watch.look(Instant.now()));
    }

    /// Ledgers from the looks at the machine.
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

    @Override
    public void close() {
        if (clock != null) {
            clock.close();
            watch.close();
            health.close();
        }
    }
}
