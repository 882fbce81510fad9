package sluice.proof.soak;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.proof.facts.Expect;
import sluice.proof.facts.GpuProcesses;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.MemoryUses;
import sluice.region.TenantProcess;

/// The ledger of the soaking tenant, compared with the simulated driver's figure of each process.
final class SoakLedger {
    private final TestTenant tenant;
    private final ProbeProcess witness;
    private final Map<Long, Long> uncharged = new HashMap<>();

    SoakLedger(TestTenant tenant, ProbeProcess witness) {
        this.tenant = tenant;
        this.witness = witness;
    }

    /// A process that has opened the GPU and done nothing yet. A library that leaves contexts to the driver does not
    /// charge them; one that has a hook for them must.
    void begin(ProbeProcess probe, Stage stage) {
        boolean contextsCharged = stage.hooks(probe, "cuDevicePrimaryCtxRetain");
        uncharged.put(probe.pid(), contextsCharged ? 0 : truth().getOrDefault(probe.pid(), 0L));
    }

    private Map<Long, Long> truth() {
        return GpuProcesses.parse(witness.ask("nvml-processes").text("processes"));
    }

    /// Process by process; returns what the tenant uses.
    long check(List<ProbeProcess> probes) {
        Map<Long, Long> truth = truth();
        Map<Long, TenantProcess> live = new HashMap<>();
        tenant.read().liveProcesses().forEach(process -> live.put(process.identity().pid(), process));
        Expect.that(live.size() == probes.size(), live.size() + " processes are in the region, not " + probes.size());
        long used = 0;
        for (ProbeProcess probe : probes) {
            used += check(probe.pid(), live.get(probe.pid()), truth.getOrDefault(probe.pid(), 0L) - uncharged.get(probe.pid()));
        }
        return used;
    }

    private static long check(long pid, TenantProcess process, long truth) {
        Expect.that(process != null, "process " + pid + " is not in the region");
        long charged = 0;
        for (TenantProcess.Charge charge : process.charges()) {
            Expect.bytes("what process " + pid + " has in flight while it is quiet", 0, charge.inFlightBytes());
            Expect.bytes("the sum of the uses of process " + pid + " " + charge.uses().byName(), charge.chargedBytes(), charge.uses().totalBytes());
            charged += charge.chargedBytes();
        }
        MemoryUses uses = process.charges().stream().map(TenantProcess.Charge::uses).reduce(MemoryUses.NONE, MemoryUses::plus);
        // Beside managed memory the driver's own part is known between two bounds only, which are as far apart.
        boolean isNear = charged >= truth && charged - truth <= uses.managedBytes();
        Expect.bytes("the ledger of process " + pid + " " + uses.byName(), truth, isNear ? truth : charged);
        return charged;
    }

    /// All memory is given back: only contexts and the driver's own memory are left.
    void checkDrained() {
        MemoryUses uses = tenant.uses();
        long asked = uses.totalBytes() - uses.contextBytes() - uses.overheadBytes() - uses.poolBytes();
        Expect.bytes("what is left after everything is freed, " + uses.byName() + ",", 0, asked);
    }

    /// No process is left.
    void checkEmpty() {
        Expect.bytes("the ledger without processes", 0, tenant.chargedBytes());
        Map<Long, Long> truth = truth();
        truth.remove(witness.pid());
        Expect.that(truth.isEmpty(), "the driver still knows " + truth);
    }
}
