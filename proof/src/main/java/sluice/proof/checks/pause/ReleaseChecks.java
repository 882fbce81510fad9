package sluice.proof.checks.pause;

import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.Status;
import sluice.proof.checks.Balance;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.Asked;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Limit;
import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.TenantPause;

/// A pause that takes the memory off the GPU: all of it leaves, all of it comes back, and where it cannot, nothing is lost.
final class ReleaseChecks {
    private static final long TINY_BYTES = 2 * MIB;
    private static final long SHARED_BYTES = 64 * MIB;
    private static final long WAITING_MILLIS = 300;

    private ReleaseChecks() {}

    static List<Check> checks() {
        return List.of(
                new Check(Group.PAUSE, "released memory leaves the GPU and comes back the same", stage -> released(Kept.plain(stage))),
                new Check(Group.PAUSE, "released memory of cuMemCreate does, too", stage -> released(Kept.physical(stage))),
                new Check(Group.PAUSE, "released memory that another process has opened stays, and both can use it", ReleaseChecks::shared),
                new Check(Group.PAUSE, "of a vacated process nothing is on the GPU, and it comes back", ReleaseChecks::vacated),
                new Check(Group.PAUSE, "without host memory a release is refused, and nothing moves", ReleaseChecks::noHostMemory),
                new Check(Group.PAUSE, "without room a resume waits, and says for what", ReleaseChecks::noRoom),
                new Check(Group.PAUSE, "a process killed while its memory is away leaves nothing", ReleaseChecks::killed));
    }

    private static String released(Kept kept) {
        long taken = kept.balance().takenBytes();
        long charged = kept.tenant().chargedBytes();
        TenantPause away = kept.tenant().ask(Depth.RELEASE).done();
        Expect.that(away.host().awayBytes() >= kept.bytes(),
                "only " + Size.format(away.host().awayBytes()) + " are away of " + Size.format(kept.bytes()));
        Expect.near("what left the GPU", away.host().awayBytes(), taken - kept.balance().takenBytes());
        Expect.near("what is still charged", kept.ownBytes(), kept.tenant().chargedBytes());
        TenantPause back = kept.tenant().ask(Depth.RUN).done();
        Expect.bytes("what is away after the resume", 0, back.host().awayBytes());
        Expect.bytes("the charge after the resume", charged, kept.tenant().chargedBytes());
        kept.expectIntact("after the resume");
        return kept.text() + " " + Kept.rates(back.moved());
    }

    private static String shared(Stage stage) {
        TestTenant tenant = Kept.mapped(stage, true);
        ProbeProcess other = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        Kept kept = Kept.plain(stage, tenant, balance);
        long pointer = kept.probe().alloc(SHARED_BYTES).value();
        Facts exported = kept.probe().ask("share", "export", pointer);
        if (exported.status() == Status.NOT_SUPPORTED) {
            throw new CheckSkipped("this GPU cannot pass mapped memory to another process");
        }
        Expect.success("cuIpcGetMemHandle", exported.status());
        Facts opened = other.ask("share", "open", exported.text("handle"));
        Expect.success("cuIpcOpenMemHandle", opened.status());
        long there = opened.number("handle");
        Expect.success("cuMemsetD8", kept.probe().ask("share", "write", pointer, 1, SHARED_BYTES).status());
        long charged = tenant.chargedBytes();
        long away = tenant.ask(Depth.RELEASE).done().host().awayBytes();
        Expect.bytes("what is still charged", charged - away, tenant.chargedBytes());
        Expect.that(away >= kept.bytes() && away < kept.bytes() + SHARED_BYTES, Size.format(away) + " are away of " + Size.format(kept.bytes()));
        String reason = tenant.ask(Depth.VACATE).refusal().reason();
        Expect.that(reason.contains("another process"), "the refusal to vacate does not say why: " + reason);
        tenant.ask(Depth.RUN).done();
        Expect.bytes("what the other process reads", 1, other.ask("share", "read", there + SHARED_BYTES - 1).number("value"));
        Expect.success("cuMemsetD8", other.ask("share", "write", there, 2, SHARED_BYTES).status());
        Expect.bytes("what the owner reads", 2, kept.probe().ask("share", "read", pointer).number("value"));
        kept.expectIntact("after the resume");
        Expect.success("cuIpcCloseMemHandle", other.ask("share", "close", there).status());
        return Size.format(away) + " were away, " + Size.format(SHARED_BYTES) + " stayed; a process " + reason;
    }

    private static String vacated(Stage stage) {
        Kept kept = Kept.plain(stage);
        if (kept.probe().ask("where", "cuCheckpointProcessCheckpoint").text("file").isEmpty()) {
            throw new CheckSkipped("this driver cannot store the state of a process; that needs driver 570 or newer");
        }
        boolean listed = kept.balance().lists(kept.probe());
        long begin = System.nanoTime();
        kept.tenant().ask(Depth.VACATE).done();
        long gone = System.nanoTime();
        Expect.that(!kept.balance().lists(kept.probe()), "NVML still lists the vacated process");
        Expect.near("what is left of it on the GPU", 0, kept.balance().takenBytes());
        Expect.bytes("what it is charged for", 0, kept.tenant().chargedBytes());
        long wanted = System.nanoTime();
        kept.tenant().ask(Depth.RUN).done();
        long back = System.nanoTime();
        kept.expectIntact("after the resume");
        Expect.that(kept.probe().ask("kernels").text("checksum").equals(kept.checksum()), "kernels compute something else after the resume");
        return kept.text() + " gone in " + (gone - begin) / 1_000_000 + " ms, back in " + (back - wanted) / 1_000_000 + " ms"
                + (listed ? "; NVML did not list the process meanwhile" : "; NVML does not tell the processes of this machine");
    }

    private static String noHostMemory(Stage stage) {
        Kept kept = Kept.plain(stage);
        kept.tenant().set(Limit.RESERVOIR, TINY_BYTES + "b");
        long taken = kept.balance().takenBytes();
        long charged = kept.tenant().chargedBytes();
        TenantPause refused = kept.tenant().ask(Depth.RELEASE).refusal();
        Expect.that(refused.reason().startsWith("needs ") && refused.reason().contains("leaves " + Size.format(TINY_BYTES)),
                "the refusal does not say what is needed: " + refused.reason());
        Expect.bytes("what is away", 0, refused.host().awayBytes());
        Expect.bytes("the charge", charged, kept.tenant().chargedBytes());
        Expect.near("what is on the GPU", taken, kept.balance().takenBytes());
        kept.tenant().ask(Depth.RUN).done();
        kept.expectIntact("after the refusal");
        return "it " + refused.reason();
    }

    private static String noRoom(Stage stage) throws InterruptedException {
        Kept kept = Kept.plain(stage);
        TestTenant tenant = kept.tenant();
        long quota = tenant.quotaBytes();
        long away = tenant.ask(Depth.RELEASE).done().host().awayBytes();
        tenant.setRoom(away / 2);
        Asked resume = tenant.ask(Depth.RUN);
        resume.until("wait for room", pause -> pause.moving().step() == PauseStep.ROOM);
        Thread.sleep(WAITING_MILLIS);
        TenantPause waiting = resume.until("say what it waits for", pause -> pause.reason().contains("its quota leaves"));
        Expect.bytes("what is away while it waits", away, waiting.host().awayBytes());
        long raised = System.nanoTime();
        tenant.setQuota(quota);
        resume.done();
        long millis = (System.nanoTime() - raised) / 1_000_000;
        kept.expectIntact("after the resume");
        return "it " + waiting.reason() + "; back " + millis + " ms after the quota was raised";
    }

    private static String killed(Stage stage) {
        TestTenant tenant = Kept.mapped(stage, true);
        ProbeProcess survivor = stage.in(tenant);
        Balance balance = Balance.start(stage, tenant);
        Kept kept = Kept.plain(stage, tenant, balance);
        tenant.ask(Depth.RELEASE).done();
        kept.probe().kill();
        Expect.bytes("what is charged beyond the other process", 0, balance.chargedBytes());
        Expect.near("what it left on the GPU", 0, balance.takenBytes());
        TenantPause after = tenant.ask(Depth.RUN).done();
        Expect.bytes("what is away", 0, after.host().awayBytes());
        tenant.setRoom(kept.bytes());
        Expect.success("all of the quota in the other process", survivor.alloc(tenant.roomBytes()).status());
        return kept.text() + " were away; another process could take as much";
    }
}
