package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.Status;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;

/// Physical memory: charged from its creation until neither a handle nor a mapping holds it.
public final class PhysicalChecks {
    private static final long BYTES = 64 * MIB;

    private PhysicalChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.PHYSICAL, "it is charged until the last mapping is gone", PhysicalChecks::lastMapping).about(MemoryWay.PHYSICAL),
                new Check(Group.PHYSICAL, "a retained handle keeps it charged", PhysicalChecks::retained).about(MemoryWay.PHYSICAL),
                new Check(Group.PHYSICAL, "mapped twice, it is charged once", PhysicalChecks::mappedTwice).about(MemoryWay.PHYSICAL),
                new Check(Group.PHYSICAL, "create, map, release in a loop stops at the quota", PhysicalChecks::loop).about(MemoryWay.PHYSICAL),
                new Check(Group.PHYSICAL, "memory on the host is not charged", PhysicalChecks::host).about(MemoryWay.PHYSICAL));
    }

    private static ProbeProcess probe(Stage stage, TestTenant tenant) {
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuMemCreate", "cuMemRelease", "cuMemMap", "cuMemUnmap", "cuMemRetainAllocationHandle");
        return probe;
    }

    private static void expectBytes(Balance balance, String when, long bytes) {
        Expect.bytes("the charge " + when, bytes, balance.check(when));
    }

    private static long create(ProbeProcess probe) {
        Facts created = probe.ask("physical", "create", BYTES);
        Expect.success("cuMemCreate", created.status());
        return created.number("handle");
    }

    private static long map(ProbeProcess probe, long handle) {
        Facts mapped = probe.ask("physical", "map", handle, BYTES);
        Expect.success("cuMemMap", mapped.status());
        return mapped.number("pointer");
    }

    private static void release(ProbeProcess probe, long handle) {
        Expect.success("cuMemRelease", probe.ask("physical", "release", handle).status());
    }

    private static void unmap(ProbeProcess probe, long pointer) {
        Expect.success("cuMemUnmap", probe.ask("physical", "unmap", pointer, BYTES).status());
    }

    private static String lastMapping(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long handle = create(probe);
        expectBytes(balance, "after cuMemCreate", BYTES);
        long pointer = map(probe, handle);
        release(probe, handle);
        expectBytes(balance, "after cuMemRelease, still mapped", BYTES);
        unmap(probe, pointer);
        balance.checkNothing("after cuMemUnmap");
        long never = create(probe);
        release(probe, never);
        balance.checkNothing("after a handle that was never mapped");
        return "64 MiB from cuMemCreate until cuMemUnmap";
    }

    private static String retained(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long handle = create(probe);
        long pointer = map(probe, handle);
        long again = probe.ask("physical", "retain", pointer).number("handle");
        release(probe, handle);
        unmap(probe, pointer);
        expectBytes(balance, "with one handle left", BYTES);
        release(probe, again);
        balance.checkNothing("after the last release");
        return "64 MiB until the second release";
    }

    private static String mappedTwice(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long handle = create(probe);
        long first = map(probe, handle);
        long second = map(probe, handle);
        release(probe, handle);
        expectBytes(balance, "while mapped twice", BYTES);
        unmap(probe, first);
        expectBytes(balance, "while mapped once", BYTES);
        unmap(probe, second);
        balance.checkNothing("after both");
        return "64 MiB at two addresses";
    }

    private static String loop(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        tenant.setRoom(GIB);
        Facts filled = probe.ask("physical", "fill-up", BYTES);
        Expect.refused("the one that did not fit", filled.status());
        Expect.that(filled.number("count") == GIB / BYTES, filled.number("count") + " handles of 64 MiB fitted into 1 GiB");
        expectBytes(balance, "when full", GIB);
        Expect.refused("cuMemAlloc beside it", probe.alloc(MIB).status());
        return "16 of 64 MiB, held by their mappings alone, then refused";
    }

    private static String host(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        tenant.setRoom(16 * MIB);
        Balance balance = Balance.start(stage, tenant);
        Facts created = probe.ask("physical", "create-on-host", BYTES);
        if (created.status() == Status.NOT_SUPPORTED || created.status() == Status.INVALID_VALUE) {
            throw new CheckSkipped("this driver creates no memory on the host (" + Status.name(created.status()) + ")");
        }
        Expect.success("cuMemCreate of 64 MiB on the host", created.status());
        balance.checkNothing("after it");
        release(probe, created.number("handle"));
        balance.checkNothing("after its release");
        return "64 MiB on the host with 16 MiB of room on the GPU";
    }
}
