package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.CallResult;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// Limits that are changed while the tenant runs, and allocations that wait for memory.
public final class LimitChecks {
    private static final long BOUND_MILLIS = 800;

    private LimitChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.LIMITS, "a raised quota holds from the next allocation on", LimitChecks::raised),
                new Check(Group.LIMITS, "a lowered quota holds from the next allocation on", LimitChecks::lowered),
                new Check(Group.LIMITS, "a quota below what is used grants nothing until there is room", LimitChecks::belowUse),
                new Check(Group.LIMITS, "a quota can be taken away", LimitChecks::takenAway),
                new Check(Group.LIMITS, "an allocation waits until a sibling frees", LimitChecks::waitsForSibling),
                new Check(Group.LIMITS, "an allocation waits until a sibling is killed", LimitChecks::waitsForDeath),
                new Check(Group.LIMITS, "an allocation waits until the quota is raised", LimitChecks::waitsForQuota),
                new Check(Group.LIMITS, "it waits no longer than it may", LimitChecks::waitIsBounded));
    }

    private static String raised(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        Expect.refused("600 MiB more", probe.alloc(600 * MIB).status());
        tenant.setQuota(tenant.quotaBytes() + GIB);
        Expect.success("600 MiB more with 1 GiB more quota", probe.alloc(600 * MIB).status());
        Expect.bytes("total of cuMemGetInfo", tenant.quotaBytes(), probe.ask("info").number("total"));
        return "600 MiB refused, with 1 GiB more quota allowed";
    }

    private static String lowered(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(2 * GIB);
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        tenant.setRoom(100 * MIB);
        Expect.refused("600 MiB more", probe.alloc(600 * MIB).status());
        Expect.success("the 100 MiB that are left", probe.alloc(100 * MIB).status());
        return "600 MiB would have fitted, with a lower quota they were refused";
    }

    private static String belowUse(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        CallResult held = probe.alloc(600 * MIB);
        long used = tenant.chargedBytes();
        tenant.setQuota(used - 200 * MIB);
        Expect.refused("4 MiB", probe.alloc(4 * MIB).status());
        Expect.bytes("what is used", used, tenant.chargedBytes());
        Expect.success("cuMemFree", probe.free(held.value()));
        Expect.success("300 MiB after the free", probe.alloc(300 * MIB).status());
        Expect.refused("200 MiB more", probe.alloc(200 * MIB).status());
        return Size.format(used) + " used of " + Size.format(tenant.quotaBytes()) + ": refused until there was room";
    }

    private static String takenAway(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(100 * MIB);
        Expect.refused("600 MiB", probe.alloc(600 * MIB).status());
        tenant.setQuota(0);
        Expect.success("600 MiB without a quota", probe.alloc(600 * MIB).status());
        return "600 MiB refused, without a quota allowed";
    }

    private interface Event {
        void happen(TestTenant tenant, ProbeProcess sibling, long pointer);
    }

    /// One process asks for memory that its sibling holds, and gets it after an event.
    private static String waits(Stage stage, String what, Event event) throws InterruptedException {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess sibling = stage.in(tenant);
        ProbeProcess waiter = stage.in(tenant);
        tenant.setRoom(GIB);
        tenant.setOnOom("wait:20s");
        CallResult held = sibling.alloc(800 * MIB);
        Expect.success("800 MiB in the sibling", held.status());
        long start = System.nanoTime();
        waiter.tell("alloc", 800 * MIB);
        Thread.sleep(300);
        Expect.that(!waiter.hasAnswer(), "it did not wait");
        event.happen(tenant, sibling, held.value());
        Expect.success("800 MiB after " + what, waiter.answer("alloc").status());
        long millis = (System.nanoTime() - start) / 1_000_000;
        Expect.that(millis < 10_000, "it took " + millis + " ms");
        Expect.that(tenant.refusedCalls() == 0, "the wait counts as a refusal");
        return "800 MiB came " + (millis - 300) + " ms after " + what;
    }

    private static String waitsForSibling(Stage stage) throws InterruptedException {
        return waits(stage, "the sibling's free",
                (tenant, sibling, pointer) -> Expect.success("cuMemFree", sibling.free(pointer)));
    }

    private static String waitsForDeath(Stage stage) throws InterruptedException {
        return waits(stage, "the sibling's death", (tenant, sibling, pointer) -> sibling.kill());
    }

    private static String waitsForQuota(Stage stage) throws InterruptedException {
        return waits(stage, "the quota was raised", (tenant, sibling, pointer) -> tenant.setQuota(tenant.quotaBytes() + GIB));
    }

    private static String waitIsBounded(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        tenant.setRoom(100 * MIB);
        tenant.setOnOom("wait:" + BOUND_MILLIS + "ms");
        long start = System.nanoTime();
        Expect.refused("200 MiB", probe.alloc(200 * MIB).status());
        long millis = (System.nanoTime() - start) / 1_000_000;
        Expect.that(millis >= BOUND_MILLIS * 9 / 10 && millis < BOUND_MILLIS + 5000, "it took " + millis + " ms");
        tenant.setOnOom("wait:50s");
        Expect.refused("what can never fit", probe.alloc(tenant.quotaBytes() + MIB).status());
        tenant.setOnOom("fail");
        Expect.refused("200 MiB without waiting", probe.alloc(200 * MIB).status());
        return "refused after " + millis + " ms of " + BOUND_MILLIS;
    }
}
