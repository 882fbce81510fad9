package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;

/// Stream-ordered memory: charged as its pool grows, not as the program asks.
public final class PoolChecks {
    private PoolChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.POOLS, "the default pool is charged as it grows", PoolChecks::grows).about(MemoryWay.DEFAULT_POOL),
                new Check(Group.POOLS, "the default pool is held to the quota", PoolChecks::held).about(MemoryWay.DEFAULT_POOL),
                new Check(Group.POOLS, "freed in the stream and synchronised, it comes back", PoolChecks::comesBack).about(MemoryWay.DEFAULT_POOL),
                new Check(Group.POOLS, "what a pool keeps stays charged until it is trimmed", PoolChecks::kept).about(MemoryWay.DEFAULT_POOL),
                new Check(Group.POOLS, "a pool of the program's own is charged and held", PoolChecks::own).about(MemoryWay.OWN_POOL),
                new Check(Group.POOLS, "memory of an own pool goes back by cuMemFree and by cuMemFreeAsync", PoolChecks::ownFreed)
                        .about(MemoryWay.OWN_POOL),
                new Check(Group.POOLS, "cuMemFree of stream-ordered memory gives it back", PoolChecks::plainFree).about(MemoryWay.DEFAULT_POOL),
                new Check(Group.POOLS, "cuMemFreeAsync of plain memory gives it back", PoolChecks::asyncFree).about(MemoryWay.LINEAR));
    }

    private static ProbeProcess probe(Stage stage, TestTenant tenant) {
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuMemPoolTrimTo");
        probe.ask("pool", "sync");
        return probe;
    }

    private static long take(ProbeProcess probe, long bytes) {
        Facts taken = probe.ask("pool", "alloc", bytes);
        Expect.success("cuMemAllocAsync of " + Balance.text(bytes), taken.status());
        return taken.number("handle");
    }

    private static void ok(ProbeProcess probe, String verb, Object... numbers) {
        Object[] arguments = new Object[numbers.length + 1];
        arguments[0] = verb;
        System.arraycopy(numbers, 0, arguments, 1, numbers.length);
        Expect.success(verb + " of stream-ordered memory", probe.ask("pool", arguments).status());
    }

    private static String grows(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        for (long bytes : new long[] {1000, 20 * MIB, 20 * MIB, 100 * MIB, 33 * MIB}) {
            take(probe, bytes);
            balance.check("after " + Balance.text(bytes) + " more");
        }
        long reserved = probe.ask("pool", "reserved", pool(probe)).number("handle");
        Expect.bytes("the charge of pools", reserved, tenant.uses().poolBytes());
        return "173 MiB asked, " + Balance.text(reserved) + " reserved by the pool and charged";
    }

    private static String held(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        tenant.setRoom(256 * MIB);
        long first = take(probe, 128 * MIB);
        Expect.refused("160 MiB more", probe.ask("pool", "alloc", 160 * MIB).status());
        balance.check("after the refusal");
        Expect.that(tenant.refusedCalls() == 1, "the region counts " + tenant.refusedCalls() + " refusals");
        ok(probe, "free", first);
        ok(probe, "sync");
        take(probe, 160 * MIB);
        balance.check("after the free");
        Expect.that(tenant.roomBytes() >= 0, "more than the quota is charged");
        return "128 MiB of 256 MiB allowed, 160 MiB more refused, after a free allowed";
    }

    private static String comesBack(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long small = take(probe, 1000);
        long large = take(probe, 100 * MIB);
        ok(probe, "free", large);
        ok(probe, "sync");
        long left = balance.check("after one free");
        ok(probe, "free", small);
        ok(probe, "sync");
        balance.checkNothing("after both");
        return Balance.text(left) + " stayed while 1000 bytes lived, then nothing";
    }

    private static String kept(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        ok(probe, "keep", pool(probe), Long.MAX_VALUE);
        ok(probe, "free", take(probe, 100 * MIB));
        ok(probe, "sync");
        long kept = balance.check("after the free");
        Expect.that(kept >= 100 * MIB, "only " + Balance.text(kept) + " are charged");
        ok(probe, "trim", pool(probe), 0);
        balance.checkNothing("after the trim");
        return Balance.text(kept) + " stayed charged, nothing after the trim";
    }

    private static String own(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        tenant.setRoom(256 * MIB);
        long pool = probe.ask("pool", "create").number("handle");
        Facts taken = probe.ask("pool", "alloc-from", pool, 100 * MIB);
        Expect.success("cuMemAllocFromPoolAsync of 100 MiB", taken.status());
        long charged = balance.check("after 100 MiB");
        Expect.refused("200 MiB more", probe.ask("pool", "alloc-from", pool, 200 * MIB).status());
        ok(probe, "free", taken.number("handle"));
        ok(probe, "sync");
        ok(probe, "destroy", pool);
        balance.checkNothing("after the pool is destroyed");
        return Balance.text(charged) + " charged for 100 MiB, 200 MiB more refused";
    }

    private static String ownFreed(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        tenant.setRoom(256 * MIB);
        long pool = probe.ask("pool", "create").number("handle");
        for (String how : List.of("cuMemFreeAsync", "cuMemFree")) {
            Facts taken = probe.ask("pool", "alloc-from", pool, 160 * MIB);
            Expect.success("cuMemAllocFromPoolAsync of 160 MiB", taken.status());
            long pointer = taken.number("handle");
            Expect.success(how, how.equals("cuMemFree") ? probe.free(pointer) : probe.ask("pool", "free", pointer).status());
            ok(probe, "sync");
            ok(probe, "trim", pool, 0);
            balance.checkNothing("after " + how + " and a trim");
        }
        return "160 MiB of 256 MiB, twice";
    }

    private static String plainFree(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long pointer = take(probe, 50 * MIB);
        Expect.success("cuMemFree", probe.free(pointer));
        ok(probe, "sync");
        ok(probe, "trim", pool(probe), 0);
        balance.checkNothing("after cuMemFree and a trim");
        return "50 MiB came back";
    }

    private static String asyncFree(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long pointer = probe.alloc(50 * MIB).value();
        ok(probe, "free", pointer);
        ok(probe, "sync");
        balance.checkNothing("after cuMemFreeAsync");
        return "50 MiB came back";
    }

    private static long pool(ProbeProcess probe) {
        return probe.ask("pool", "default").number("handle");
    }
}
