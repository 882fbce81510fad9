package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import java.util.stream.Stream;
import sluice.cuda.CallResult;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// Several processes: one quota for a tenant, none for its neighbours, and nothing lost when a process dies.
public final class ProcessChecks {
    private static final int ROUNDS = 8;
    private static final long HEAD_START_NANOS = 20_000_000;
    private static final List<String> ODD_NAMES = List.of("a Zed x", "x) Z 1 (y", "S 1 1");

    private ProcessChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.PROCESSES, "two processes share one quota", ProcessChecks::share),
                new Check(Group.PROCESSES, "two that ask at the same moment never both pass", ProcessChecks::race),
                new Check(Group.PROCESSES, "four that grab what they can take exactly the quota", ProcessChecks::grab),
                new Check(Group.PROCESSES, "a killed process's memory comes back at once", ProcessChecks::killed)
                        .about(MemoryWay.PROCESS),
                new Check(Group.PROCESSES, "processes killed in the middle of a call leave nothing", ProcessChecks::killedInCalls)
                        .about(MemoryWay.PROCESS),
                new Check(Group.PROCESSES, "when one of three dies, the others stay counted to the byte", ProcessChecks::oneOfThree)
                        .about(MemoryWay.PROCESS),
                new Check(Group.PROCESSES, "a process counts whatever its name looks like", ProcessChecks::oddNames),
                new Check(Group.PROCESSES, "a child process shares the quota", ProcessChecks::child),
                new Check(Group.PROCESSES, "a program that becomes another starts with nothing charged", ProcessChecks::exec)
                        .about(MemoryWay.PROCESS),
                new Check(Group.PROCESSES, "another tenant is not concerned", ProcessChecks::neighbour));
    }

    private static String share(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess first = stage.in(tenant);
        ProbeProcess second = stage.in(tenant);
        tenant.setRoom(GIB);
        CallResult held = first.alloc(600 * MIB);
        Expect.success("600 MiB in the first process", held.status());
        Expect.refused("600 MiB in the second", second.alloc(600 * MIB).status());
        Expect.success("400 MiB in the second", second.alloc(400 * MIB).status());
        Expect.bytes("total shown in the second", tenant.quotaBytes(), second.ask("info").number("total"));
        Expect.bytes("free shown in the second", tenant.roomBytes(), second.ask("info").number("free"));
        Expect.success("cuMemFree in the first", first.free(held.value()));
        Expect.success("600 MiB in the second afterwards", second.alloc(600 * MIB).status());
        return "600 + 400 MiB of 1 GiB allowed, 600 + 600 refused";
    }

    private static String race(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess first = stage.in(tenant);
        ProbeProcess second = stage.in(tenant);
        tenant.setRoom(GIB);
        long before = tenant.chargedBytes();
        for (int round = 1; round <= ROUNDS; round++) {
            long moment = System.nanoTime() + HEAD_START_NANOS;
            first.tell("alloc-at", moment, 600 * MIB);
            second.tell("alloc-at", moment, 600 * MIB);
            long passed = Stream.of(first, second)
                    .filter(probe -> probe.answer("alloc-at").status() == 0)
                    .count();
            Expect.that(passed == 1, "in round " + round + " " + passed + " of 2 passed, expected exactly 1");
            Expect.success("free", first.ask("free-held", "all").status());
            Expect.success("free", second.ask("free-held", "all").status());
            Expect.bytes("the charge after round " + round, before, tenant.chargedBytes());
        }
        return ROUNDS + " rounds, exactly one passed each time";
    }

    private static String grab(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        List<ProbeProcess> probes = Stream.generate(() -> stage.in(tenant)).limit(4).toList();
        tenant.setRoom(GIB);
        long pieces = tenant.roomBytes() / (8 * MIB);
        probes.forEach(probe -> probe.tell("fill-up", 8 * MIB));
        long got = probes.stream().mapToLong(probe -> probe.answer("fill-up").number("count")).sum();
        Expect.that(got == pieces, "they got " + got + " pieces of 8 MiB, expected " + pieces);
        Expect.that(tenant.roomBytes() >= 0, "the ledger says " + Size.format(tenant.chargedBytes()));
        return got + " pieces of 8 MiB in all, " + Size.format(tenant.chargedBytes()) + " charged";
    }

    private static String killed(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess survivor = stage.in(tenant);
        long before = tenant.chargedBytes();
        ProbeProcess victim = stage.in(tenant);
        tenant.setRoom(GIB);
        Expect.success("900 MiB", victim.alloc(900 * MIB).status());
        Expect.refused("900 MiB in another process", survivor.alloc(900 * MIB).status());
        victim.kill();
        Expect.bytes("the charge after SIGKILL", before, tenant.chargedBytes());
        Expect.success("900 MiB in the other process after SIGKILL", survivor.alloc(900 * MIB).status());
        return "900 MiB came back";
    }

    private static String killedInCalls(Stage stage) throws InterruptedException {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess survivor = stage.in(tenant);
        long before = tenant.chargedBytes();
        for (int round = 0; round < ROUNDS / 2; round++) {
            List<ProbeProcess> victims = List.of(stage.in(tenant), stage.in(tenant));
            victims.forEach(victim -> victim.ask("churn", victim.pid()));
            Thread.sleep(20 + 17L * round);
            victims.forEach(ProbeProcess::kill);
            Expect.bytes("the charge after SIGKILL", before, tenant.chargedBytes());
        }
        Expect.success("the whole quota afterwards", survivor.alloc(tenant.roomBytes()).status());
        return ROUNDS + " processes killed while they allocated and freed";
    }

    /// The dead process has the first slot; the last process removes dead ones before it is refused.
    private static String oneOfThree(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess first = stage.in(tenant);
        ProbeProcess second = stage.in(tenant);
        ProbeProcess third = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        tenant.setRoom(GIB);
        Expect.success("100 MiB", first.alloc(100 * MIB).status());
        Expect.success("600 MiB", second.alloc(600 * MIB).status());
        long held = tenant.chargedBytes(second.pid());
        first.kill();
        Expect.refused("more than is left, in the third", third.alloc(2 * GIB).status());
        Expect.bytes("the charge of the second", held, tenant.chargedBytes(second.pid()));
        balance.checkContextGone("after the death of the first");
        ProbeProcess late = stage.in(tenant);
        Expect.bytes("the charge of the second, with a fourth process", held, tenant.chargedBytes(second.pid()));
        Expect.refused("what only fits without the second", late.alloc(GIB).status());
        balance.check("with a fourth process");
        return "600 MiB of the second stayed charged";
    }

    private static String oddNames(Stage stage) {
        for (String name : ODD_NAMES) {
            TestTenant tenant = stage.tenant(8 * GIB);
            ProbeProcess odd = stage.in(tenant);
            ProbeProcess sibling = stage.in(tenant);
            tenant.setRoom(GIB);
            Expect.success("the new name", odd.ask("rename", name).status());
            Expect.success("600 MiB", odd.alloc(600 * MIB).status());
            Expect.refused("600 MiB beside a process named '" + name + "'", sibling.alloc(600 * MIB).status());
            Expect.that(tenant.has(odd.pid()), "a process named '" + name + "' is taken for dead");
            odd.kill();
            Expect.success("600 MiB after its end", sibling.alloc(600 * MIB).status());
            sibling.kill();
        }
        return String.join(", ", ODD_NAMES);
    }

    private static String child(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess parent = stage.in(tenant);
        tenant.setRoom(GIB + tenant.chargedBytes());
        Expect.success("600 MiB in the parent", parent.alloc(600 * MIB).status());
        long before = tenant.chargedBytes();
        Expect.refused("600 MiB in the child", parent.ask("spawn", "alloc", 600 * MIB).status());
        Expect.success("300 MiB in the child", parent.ask("spawn", "alloc", 300 * MIB).status());
        Expect.bytes("the charge after the children", before, tenant.chargedBytes());
        return "parent holds 600 MiB of 1 GiB beside both contexts: child gets 300 MiB, not 600";
    }

    private static String exec(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        tenant.setRoom(GIB);
        Expect.success("900 MiB", probe.alloc(900 * MIB).status());
        probe.ask("exec");
        Stage.open(probe);
        Expect.success("900 MiB after exec", probe.alloc(900 * MIB).status());
        Expect.refused("200 MiB more", probe.alloc(200 * MIB).status());
        return "900 MiB before exec, 900 MiB after it, one quota of 1 GiB";
    }

    private static String neighbour(Stage stage) {
        TestTenant full = stage.tenant(8 * GIB);
        TestTenant other = stage.tenant(8 * GIB);
        ProbeProcess first = stage.in(full);
        ProbeProcess second = stage.in(other);
        full.setRoom(GIB / 2);
        other.setRoom(GIB);
        Expect.success("all of the first tenant's quota", first.alloc(full.roomBytes()).status());
        Expect.success("all of the second tenant's quota", second.alloc(other.roomBytes()).status());
        Expect.refused("one byte more in the first", first.alloc(1).status());
        Expect.refused("one byte more in the second", second.alloc(1).status());
        return "512 MiB and 1 GiB, each its own";
    }
}
