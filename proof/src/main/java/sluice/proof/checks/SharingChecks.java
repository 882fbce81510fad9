package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.Status;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Limit;

/// Shared memory is charged once: to the process that made it, as long as that process has it.
public final class SharingChecks {
    private static final long BYTES = 64 * MIB;
    private static final long LOOK_MILLIS = 150;
    private static final int MARK = 42;

    private SharingChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.SHARED, "memory opened by cuIpcOpenMemHandle is charged once", stage -> ipc(stage, false)).about(MemoryWay.IPC),
                new Check(Group.SHARED, "mapped memory opened by cuIpcOpenMemHandle is charged once", stage -> ipc(stage, true))
                        .about(MemoryWay.IPC),
                new Check(Group.SHARED, "physical memory imported from another process is charged once", SharingChecks::imported)
                        .about(MemoryWay.IMPORT),
                new Check(Group.SHARED, "memory imported as external is charged once", SharingChecks::external).about(MemoryWay.EXTERNAL),
                new Check(Group.SHARED, "a multicast object is not charged, the memory bound to it is", SharingChecks::multicast)
                        .about(MemoryWay.MULTICAST));
    }

    /// The answer of a driver without this ability.
    private static long need(Facts answer, String ability) {
        if (answer.status() == Status.NOT_SUPPORTED || answer.status() == Status.NOT_FOUND || answer.status() == Status.INVALID_VALUE
                || answer.status() == Status.INVALID_DEVICE) {
            throw new CheckSkipped("this driver or GPU cannot do it: " + ability + " answered " + Status.name(answer.status()));
        }
        Expect.success(ability, answer.status());
        return answer.number("handle");
    }

    /// Ledger and driver agree on 64 MiB, also after what the other process has was compared with what it asked for.
    private static void expectBytes(Balance balance, ProbeProcess other, String when) {
        try {
            Thread.sleep(LOOK_MILLIS);
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
        Expect.success("cuMemGetInfo", other.ask("info").status());
        Expect.near("the charge " + when, BYTES, balance.check(when));
    }

    private static String ipc(Stage stage, boolean mapped) {
        TestTenant tenant = stage.tenant(8 * GIB);
        tenant.set(Limit.MAPPED, Boolean.toString(mapped));
        ProbeProcess owner = stage.in(tenant);
        ProbeProcess other = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        long pointer = owner.alloc(BYTES).value();
        Facts exported = owner.ask("share", "export", pointer);
        if (exported.status() == Status.NOT_SUPPORTED) {
            throw new CheckSkipped("this driver has no IPC");
        }
        Expect.success("cuIpcGetMemHandle", exported.status());
        Expect.success("cuMemsetD8", owner.ask("share", "write", pointer, MARK, BYTES).status());
        long there = need(other.ask("share", "open", exported.text("handle")), "cuIpcOpenMemHandle");
        Expect.bytes("what the other process reads", MARK, other.ask("share", "read", there + BYTES - 1).number("value"));
        expectBytes(balance, other, "while two processes have it");
        Expect.success("cuIpcCloseMemHandle", other.ask("share", "close", there).status());
        Expect.success("cuMemFree", owner.free(pointer));
        balance.check("after both gave it up");
        return "64 MiB in two processes, charged to the one that allocated them";
    }

    private static String imported(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess owner = stage.in(tenant);
        ProbeProcess other = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        long handle = need(owner.ask("share", "create", BYTES), "cuMemCreate of memory to be exported");
        expectBytes(balance, owner, "after cuMemCreate");
        long file = need(owner.ask("share", "export-physical", handle), "cuMemExportToShareableHandle");
        long there = need(other.ask("share", "import-physical", owner.pid(), file), "cuMemImportFromShareableHandle");
        long pointer = other.ask("physical", "map", there, BYTES).number("pointer");
        expectBytes(balance, other, "while another process has mapped it");
        Expect.success("cuMemUnmap", other.ask("physical", "unmap", pointer, BYTES).status());
        Expect.success("cuMemRelease there", other.ask("physical", "release", there).status());
        expectBytes(balance, other, "after the other gave it up");
        return "64 MiB in two processes, charged to the one that created them";
    }

    private static String external(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess owner = stage.in(tenant);
        ProbeProcess other = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        long handle = need(owner.ask("share", "create", BYTES), "cuMemCreate of memory to be exported");
        long file = need(owner.ask("share", "export-physical", handle), "cuMemExportToShareableHandle");
        Facts imported = other.ask("share", "import-external", owner.pid(), file, BYTES);
        if (imported.status() != Status.SUCCESS) {
            throw new CheckSkipped("only a graphics API can make such memory here; cuImportExternalMemory of CUDA's own answered "
                    + Status.name(imported.status()));
        }
        expectBytes(balance, other, "while another process has imported it");
        return "64 MiB in two processes, charged to the one that created them";
    }

    private static String multicast(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        long multicast = need(probe.ask("share", "multicast", 1, BYTES), "cuMulticastCreate");
        balance.checkNothing("after cuMulticastCreate");
        need(Facts.of("status", probe.ask("share", "add-device", multicast).status(), "handle", 0), "cuMulticastAddDevice");
        long handle = need(probe.ask("physical", "create", BYTES), "cuMemCreate");
        need(Facts.of("status", probe.ask("share", "bind", multicast, handle, BYTES).status(), "handle", 0), "cuMulticastBindMem");
        expectBytes(balance, probe, "after 64 MiB are bound to it");
        Expect.success("cuMulticastUnbind", probe.ask("share", "unbind", multicast, BYTES).status());
        Expect.success("cuMemRelease", probe.ask("physical", "release", handle).status());
        Expect.success("cuMemRelease of the object", probe.ask("physical", "release", multicast).status());
        balance.checkNothing("after its end");
        return "64 MiB bound, 64 MiB charged";
    }
}
