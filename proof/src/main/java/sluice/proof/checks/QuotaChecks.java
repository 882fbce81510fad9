package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.Driver;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// One process: requests that fit are allowed, others are refused, and the program sees its quota.
public final class QuotaChecks {

    private QuotaChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.QUOTA, "the quota can be used to the last byte, and not a byte more", QuotaChecks::lastByte)
                        .about(MemoryWay.LINEAR),
                new Check(Group.QUOTA, "one allocation above the quota is refused at once", QuotaChecks::singleAbove),
                new Check(Group.QUOTA, "a refused allocation leaves nothing charged", QuotaChecks::refusedLeavesNothing),
                new Check(Group.QUOTA, "pitched memory is held to the quota", QuotaChecks::pitched).about(MemoryWay.PITCHED),
                new Check(Group.QUOTA, "managed memory is held to the quota", QuotaChecks::managed).about(MemoryWay.MANAGED),
                new Check(Group.QUOTA, "the program sees its quota as the GPU's memory", QuotaChecks::programSeesQuota)
                        .about(View.CUDA_INFO, View.CUDA_TOTAL),
                new Check(Group.QUOTA, "the 32-bit calls show no more than the quota", QuotaChecks::oldCallsSeeQuota),
                new Check(Group.QUOTA, "a quota above the GPU's memory shows no more than there is", QuotaChecks::quotaAboveGpu)
                        .about(View.CUDA_INFO, View.CUDA_TOTAL),
                new Check(Group.QUOTA, "free memory is never shown larger than it is", QuotaChecks::neverMoreThanThere)
                        .about(View.CUDA_INFO),
                new Check(Group.QUOTA, "a program that finds the driver by dlsym is held", stage -> held(stage, Driver.Route.DLSYM)),
                new Check(Group.QUOTA, "a program that asks cuGetProcAddress is held", stage -> held(stage, Driver.Route.PROC_ADDRESS)));
    }

    private static String lastByte(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long granule = granule(probe);
        tenant.setRoom(GIB);
        long before = tenant.chargedBytes();
        long room = tenant.roomBytes() / granule * granule;
        Expect.success("allocation of all that is left", probe.alloc(room).status());
        Expect.refused("allocation of one byte more", probe.alloc(1).status());
        Expect.bytes("what the ledger says", before + room, tenant.chargedBytes());
        return Size.format(room) + " allowed, 1 byte more refused";
    }

    private static String singleAbove(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        long granule = granule(probe);
        tenant.setRoom(GIB);
        long room = tenant.roomBytes() / granule * granule;
        Expect.refused("allocation of one byte above the room", probe.alloc(room + 1).status());
        Expect.refused("allocation of one granule above the room", probe.alloc(room + granule).status());
        Expect.that(probe.alloc(-1).status() != 0, "allocation of 2^64 - 1 bytes is allowed");
        Expect.success("allocation of exactly the room", probe.alloc(room).status());
        return Size.format(room) + " + 1 byte refused, " + Size.format(room) + " allowed";
    }

    private static String refusedLeavesNothing(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        probe.alloc(100 * MIB);
        long before = tenant.chargedBytes();
        for (int i = 0; i < 100; i++) {
            Expect.refused("allocation of 2 GiB", probe.alloc(2 * GIB).status());
        }
        Expect.bytes("what is charged after 100 refusals", before, tenant.chargedBytes());
        Expect.that(tenant.refusedCalls() == 100, "the region counts " + tenant.refusedCalls() + " refusals, not 100");
        return "100 refusals, " + Size.format(before) + " charged before and after";
    }

    private static String pitched(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        long rows = tenant.roomBytes() / 512;
        Expect.refused("pitched allocation whose rows fit, but not with their padding",
                probe.ask("pitch", 400, rows + rows / 10).status());
        Expect.success("pitched allocation that fits with its padding", probe.ask("pitch", 400, rows / 2).status());
        Expect.refused("the same again and a bit", probe.ask("pitch", 400, rows / 2 + rows / 10).status());
        return "rows of 400 bytes count with their padding";
    }

    private static String managed(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        Expect.success("managed allocation of 600 MiB", probe.ask("managed", 600 * MIB).status());
        Expect.refused("another one", probe.ask("managed", 600 * MIB).status());
        Expect.refused("device allocation of 600 MiB beside it", probe.alloc(600 * MIB).status());
        return "600 MiB allowed, 600 MiB more refused as managed and as device memory";
    }

    private static String programSeesQuota(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant);
        probe.alloc(300 * MIB);
        Facts info = probe.ask("info");
        Expect.success("cuMemGetInfo", info.status());
        Expect.bytes("total of cuMemGetInfo", tenant.quotaBytes(), info.number("total"));
        Expect.bytes("cuDeviceTotalMem", tenant.quotaBytes(), info.number("device-total"));
        Expect.bytes("free of cuMemGetInfo", tenant.roomBytes(), info.number("free"));
        return "total " + Size.format(info.number("total")) + ", free " + Size.format(info.number("free"));
    }

    private static String oldCallsSeeQuota(Stage stage) {
        Facts without = stage.bare().ask("info");
        Facts with = stage.in(stage.tenant(2 * GIB)).ask("info");
        for (String call : List.of("v1-status", "v1-device-status")) {
            Expect.that(with.text(call).equals(without.text(call)),
                    call + " is " + with.text(call) + ", without the library " + without.text(call));
        }
        if (with.number("v1-status") != 0 || with.number("v1-device-status") != 0) {
            throw new CheckSkipped("this driver does not answer the 32-bit calls (" + without.text("v1-status") + ")");
        }
        Expect.that(with.number("v1-total") <= 2 * GIB && with.number("v1-device-total") <= 2 * GIB
                && with.number("v1-free") <= with.number("v1-total"), "they say " + with.line().replace('\t', ' '));
        return "total " + Size.format(with.number("v1-total"));
    }

    private static String quotaAboveGpu(Stage stage) {
        Facts real = stage.bare().ask("info");
        long quota = real.number("total") * 3;
        Facts info = stage.in(stage.tenant(quota)).ask("info");
        Expect.bytes("total of cuMemGetInfo", real.number("total"), info.number("total"));
        Expect.bytes("cuDeviceTotalMem", real.number("device-total"), info.number("device-total"));
        Expect.that(info.number("free") <= real.number("free"), "free is " + Size.format(info.number("free"))
                + " although the driver had only " + Size.format(real.number("free")));
        return "quota " + Size.format(quota) + ", shown " + Size.format(info.number("total"));
    }

    /// Fills the GPU from outside, so it runs only on the simulated GPU.
    private static String neverMoreThanThere(Stage stage) {
        if (!stage.environment().simulated()) {
            throw new CheckSkipped("would fill the whole GPU; made on the simulated GPU only");
        }
        ProbeProcess outsider = stage.bare();
        ProbeProcess probe = stage.in(stage.tenant(4 * GIB));
        long left = 512 * MIB;
        Expect.success("filling the GPU", outsider.alloc(outsider.ask("info").number("free") - left).status());
        long free = probe.ask("info").number("free");
        Expect.that(free <= left, "free is " + Size.format(free) + " although " + Size.format(left) + " are left");
        return "quota 4.0 GiB, " + Size.format(left) + " left on the GPU, shown " + Size.format(free);
    }

    private static String held(Stage stage, Driver.Route route) {
        TestTenant tenant = stage.tenant(2 * GIB);
        ProbeProcess probe = stage.in(tenant, route);
        tenant.setRoom(GIB);
        Expect.success("allocation of 600 MiB", probe.alloc(600 * MIB).status());
        Expect.refused("another one", probe.alloc(600 * MIB).status());
        Expect.bytes("total of cuMemGetInfo", tenant.quotaBytes(), probe.ask("info").number("total"));
        return "600 MiB allowed, 600 MiB more refused, total shown as the quota";
    }

    static long granule(ProbeProcess probe) {
        return probe.ask("device").number("granularity");
    }
}
