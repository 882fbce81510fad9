package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import java.util.Map;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// The driver refuses, or the process dies inside it. Faults at an exact place need the simulated driver.
public final class FaultChecks {

    private FaultChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.FAULTS, "what the driver itself refuses is not charged", FaultChecks::driverRefuses),
                new Check(Group.FAULTS, "an allocation that fails in the driver is not charged", FaultChecks::allocationFails),
                new Check(Group.FAULTS, "a free that fails in the driver stays charged", FaultChecks::freeFails),
                new Check(Group.FAULTS, "death before the driver allocates leaves nothing",
                        stage -> dies(stage, "cuMemAlloc_v2@2=kill-before", "alloc " + 200 * MIB)),
                new Check(Group.FAULTS, "death after the driver allocated leaves nothing",
                        stage -> dies(stage, "cuMemAlloc_v2@2=kill-after", "alloc " + 200 * MIB)),
                new Check(Group.FAULTS, "death before the driver frees leaves nothing",
                        stage -> dies(stage, "cuMemFree_v2@1=kill-before", "free-held all")),
                new Check(Group.FAULTS, "death after the driver freed leaves nothing",
                        stage -> dies(stage, "cuMemFree_v2@1=kill-after", "free-held all")),
                new Check(Group.FAULTS, "a driver that does not tell its granularity is held, too", FaultChecks::oldDriver));
    }

    private static String driverRefuses(Stage stage) {
        long total = stage.bare().ask("info").number("total");
        TestTenant tenant = stage.tenant(4 * total);
        ProbeProcess probe = stage.in(tenant);
        long before = tenant.chargedBytes();
        Expect.refused("allocation of twice the GPU's memory", probe.alloc(2 * total).status());
        Expect.bytes("the charge afterwards", before, tenant.chargedBytes());
        Expect.that(tenant.refusedCalls() == 0, "it is counted as refused by the quota");
        return "asked for " + Size.format(2 * total) + " under a quota of " + Size.format(4 * total);
    }

    private static String allocationFails(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = faulty(stage, tenant, "cuMemAlloc_v2@1=999");
        tenant.setRoom(GIB);
        long before = tenant.chargedBytes();
        Expect.status("the first allocation", 999, probe.alloc(600 * MIB).status());
        Expect.bytes("the charge afterwards", before, tenant.chargedBytes());
        Expect.success("the second one", probe.alloc(600 * MIB).status());
        return "600 MiB failed with the driver's own code, then 600 MiB allowed";
    }

    private static String freeFails(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = faulty(stage, tenant, "cuMemFree_v2@1=999");
        long pointer = probe.alloc(600 * MIB).value();
        long held = tenant.chargedBytes();
        Expect.status("the first free", 999, probe.free(pointer));
        Expect.bytes("the charge afterwards", held, tenant.chargedBytes());
        Expect.success("the second free", probe.free(pointer));
        Expect.bytes("the charge after it", held - 600 * MIB, tenant.chargedBytes());
        return "600 MiB stayed charged until they were really free";
    }

    private static String dies(Stage stage, String fault, String lastCommand) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess survivor = stage.in(tenant);
        long before = tenant.chargedBytes();
        ProbeProcess victim = faulty(stage, tenant, fault);
        tenant.setRoom(GIB);
        Expect.success("600 MiB", victim.alloc(600 * MIB).status());
        victim.tell(lastCommand);
        victim.awaitDeath();
        Expect.bytes("the charge afterwards", before, tenant.chargedBytes());
        Expect.success("the whole quota in another process", survivor.alloc(tenant.roomBytes()).status());
        return fault + ": " + Size.format(tenant.chargedBytes()) + " could be taken by another process";
    }

    private static String oldDriver(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = faulty(stage, tenant, "cuMemGetAllocationGranularity=missing");
        tenant.setRoom(GIB);
        Expect.success("allocation of all that is left", probe.alloc(tenant.roomBytes()).status());
        Expect.refused("one byte more", probe.alloc(1).status());
        return "1.0 GiB allowed, 1 byte more refused";
    }

    private static ProbeProcess faulty(Stage stage, TestTenant tenant, String fault) {
        if (!stage.environment().simulated()) {
            throw new CheckSkipped("needs a driver that fails on demand: the simulated one");
        }
        return stage.in(tenant, Map.of("SLUICE_SIM_FAULTS", fault));
    }
}
