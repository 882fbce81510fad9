package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// The ledger compared with an independent witness: it charges what the driver takes, and refunds all of it.
public final class ChargeChecks {
    private static final int TRIES = 3;

    private ChargeChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.CHARGE, "allocations of 1 byte are charged as the driver takes them", stage -> many(stage, 1, 20_000))
                        .about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "allocations of 513 bytes, likewise", stage -> many(stage, 513, 20_000)).about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "a hundred thousand allocations of 700 bytes, likewise", stage -> many(stage, 700, 100_000))
                        .about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "allocations of 1 MiB, likewise", stage -> many(stage, MIB, 200)).about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "allocations of 1 MiB + 1 byte, likewise", stage -> many(stage, MIB + 1, 200))
                        .about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "allocations of 2 MiB + 1 byte, likewise", stage -> many(stage, 2 * MIB + 1, 200))
                        .about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "a mix of sizes, likewise", ChargeChecks::mix).about(MemoryWay.LINEAR),
                new Check(Group.CHARGE, "pitched memory is charged with its real pitch", ChargeChecks::pitch).about(MemoryWay.PITCHED),
                new Check(Group.CHARGE, "managed memory is charged in full", ChargeChecks::managed).about(MemoryWay.MANAGED),
                new Check(Group.CHARGE, "what is freed in order comes back", stage -> comesBack(stage, "all")),
                new Check(Group.CHARGE, "what is freed in reverse comes back", stage -> comesBack(stage, "reverse")),
                new Check(Group.CHARGE, "what is freed in any order comes back", stage -> comesBack(stage, "shuffled")),
                new Check(Group.CHARGE, "half of it freed is charged as the driver keeps it", ChargeChecks::halfFreed),
                new Check(Group.CHARGE, "eight threads at once lose nothing", ChargeChecks::threads),
                new Check(Group.CHARGE, "a device reset gives all back", stage -> contextGone(stage, "reset")).about(MemoryWay.CONTEXT),
                new Check(Group.CHARGE, "a released context gives all back", stage -> contextGone(stage, "release"))
                        .about(MemoryWay.CONTEXT),
                new Check(Group.CHARGE, "the management library sees what the ledger says", ChargeChecks::nvml));
    }

    private static String many(Stage stage, long bytes, long count) {
        String seen = compare(stage, probe -> Expect.success("an allocation of " + bytes + " bytes",
                probe.ask("many", bytes, count).status()));
        return count + " allocations: " + seen;
    }

    private static String mix(Stage stage) {
        return compare(stage, probe -> Expect.success("a mixed allocation",
                probe.ask("mix", 42, 500, 16 * MIB).status()));
    }

    private static String halfFreed(Stage stage) {
        return compare(stage, probe -> {
            Expect.success("a mixed allocation", probe.ask("mix", 43, 500, 16 * MIB).status());
            Expect.success("a free", probe.ask("free-held", "half").status());
        });
    }

    private interface Act {
        void on(ProbeProcess probe);
    }

    /// Compares the ledger's charge for an action with the fall of the driver's free memory, as seen from outside the tenant. Both must be
    /// equal on the simulated GPU. A real GPU may have other users. So there a small difference is allowed, and a large one counts only if it
    /// comes every time.
    private static String compare(Stage stage, Act act) {
        ProbeProcess witness = stage.bare();
        for (int attempt = 1; ; attempt++) {
            TestTenant tenant = stage.tenant(8 * GIB);
            ProbeProcess probe = stage.in(tenant);
            long chargedBefore = tenant.chargedBytes();
            long freeBefore = witness.ask("info").number("free");
            act.on(probe);
            long charged = tenant.chargedBytes() - chargedBefore;
            long taken = freeBefore - witness.ask("info").number("free");
            probe.kill();
            if (stage.environment().simulated()) {
                Expect.bytes("the charge", taken, charged);
            }
            if (Expect.isNear(taken, charged) || attempt == TRIES) {
                Expect.near("the charge", taken, charged);
                return "charged " + Size.format(charged) + ", the driver took " + Size.format(taken);
            }
        }
    }

    private static String pitch(Stage stage) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = stage.in(tenant);
        return rows(tenant, probe, 400, 100_001) + "; " + rows(tenant, probe, 1, MIB);
    }

    private static String rows(TestTenant tenant, ProbeProcess probe, long width, long height) {
        long granule = QuotaChecks.granule(probe);
        long before = tenant.chargedBytes();
        long pitch = probe.ask("pitch", width, height).number("pitch");
        Expect.that(pitch >= width, "the pitch is " + pitch);
        long expected = (pitch * height + granule - 1) / granule * granule;
        Expect.bytes("the charge", expected, tenant.chargedBytes() - before);
        return height + " rows of " + width + " bytes, pitch " + pitch + ", charged " + Size.format(expected);
    }

    private static String managed(Stage stage) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long before = tenant.chargedBytes();
        Expect.success("cuMemAllocManaged", probe.ask("managed", 300 * MIB).status());
        Expect.bytes("the charge", 300 * MIB, tenant.chargedBytes() - before);
        Expect.success("cuMemFree", probe.ask("free-held", "all").status());
        Expect.bytes("the charge after the free", before, tenant.chargedBytes());
        return "300 MiB, although the driver takes them only when they are touched";
    }

    private static String comesBack(Stage stage, String order) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long before = tenant.chargedBytes();
        Expect.success("a mixed allocation", probe.ask("mix", 44, 500, 16 * MIB).status());
        long held = tenant.chargedBytes() - before;
        Expect.that(held > GIB / 2, "only " + Size.format(held) + " are charged for 500 allocations");
        Expect.success("a free", probe.ask("free-held", order).status());
        Expect.bytes("the charge after freeing all", before, tenant.chargedBytes());
        return Size.format(held) + " in 500 allocations came back";
    }

    private static String threads(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long before = tenant.chargedBytes();
        long failures = probe.ask("threads", 8, 1000).number("failures");
        Expect.that(failures == 0, failures + " calls failed");
        Expect.bytes("the charge afterwards", before, tenant.chargedBytes());
        return "8 threads, 1000 calls each";
    }

    private static String contextGone(Stage stage, String how) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        long before = tenant.chargedBytes();
        Expect.success("allocation of 700 MiB", probe.alloc(700 * MIB).status());
        Expect.success("500 small allocations", probe.ask("many", 4000, 500).status());
        Expect.success(how, probe.ask(how).status());
        Expect.bytes("the charge afterwards", before, tenant.chargedBytes());
        Expect.success("allocation of 700 MiB afterwards", probe.alloc(700 * MIB).status());
        return "700 MiB came back and could be taken again";
    }

    private static String nvml(Stage stage) {
        ProbeProcess witness = stage.bare();
        if (witness.ask("nvml").text("available").equals("false")) {
            throw new CheckSkipped("there is no libnvidia-ml.so.1 that works");
        }
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long chargedBefore = tenant.chargedBytes();
        long usedBefore = witness.ask("nvml").number("used");
        Expect.success("allocation of 1.5 GiB", probe.alloc(3 * GIB / 2).status());
        long charged = tenant.chargedBytes() - chargedBefore;
        long used = witness.ask("nvml").number("used") - usedBefore;
        Expect.near("what NVML says the GPU's used memory rose by", charged, used);
        return "charged " + Size.format(charged) + ", NVML saw " + Size.format(used);
    }
}
