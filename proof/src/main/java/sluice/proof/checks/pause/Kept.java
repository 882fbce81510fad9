package sluice.proof.checks.pause;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.Locale;
import sluice.proof.checks.Balance;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Limit;
import sluice.region.limits.Size;
import sluice.region.pause.ProcessPause.Moved;

/// A tenant of one process that holds memory of random sizes with known contents.
///
/// @param balance  from before the process began
/// @param checksum of what kernels compute in it
/// @param ownBytes charged before it asked for anything: its context and its code
/// @param bytes    that it asked for
record Kept(TestTenant tenant, ProbeProcess probe, Balance balance, String checksum, long ownBytes, long bytes, long pieces) {
    private static final String PLAIN = "plain";

    /// By cuMemAlloc, from a tenant whose plain memory can move.
    static Kept plain(Stage stage) {
        return of(stage, PLAIN);
    }

    /// By cuMemCreate, from a tenant without other settings.
    static Kept physical(Stage stage) {
        return of(stage, "physical");
    }

    private static Kept of(Stage stage, String way) {
        TestTenant tenant = mapped(stage, way.equals(PLAIN));
        Balance balance = Balance.start(stage, tenant);
        long most = stage.environment().simulated() ? 64 * MIB : Math.min(2 * GIB, balance.freeBytes() / 4);
        return in(tenant, stage.in(tenant), stage, balance, way, most);
    }

    /// In a further process of a tenant.
    static Kept plain(Stage stage, TestTenant tenant, Balance balance) {
        return in(tenant, stage.in(tenant), stage, balance, PLAIN, 64 * MIB);
    }

    private static Kept in(TestTenant tenant, ProbeProcess probe, Stage stage, Balance balance, String way, long most) {
        stage.needHook(probe, "cuMemCreate", "cuMemMap");
        String checksum = probe.ask("kernels").text("checksum");
        long ownBytes = tenant.chargedBytes();
        Facts taken = probe.ask("keep", way, most);
        return new Kept(tenant, probe, balance, checksum, ownBytes, taken.number("bytes"), taken.number("pieces"));
    }

    static TestTenant mapped(Stage stage, boolean mapped) {
        TestTenant tenant = stage.tenant(8 * GIB);
        tenant.set(Limit.MAPPED, Boolean.toString(mapped));
        return tenant;
    }

    /// Each byte is where it was.
    void expectIntact(String when) {
        Facts seen = probe.ask("keep", "check");
        Expect.safe(seen.number("wrong") == 0, when + " the memory is not what it was, first at " + seen.text("first"));
        Expect.bytes("the number of pieces", pieces, seen.number("pieces"));
    }

    String text() {
        return Size.format(bytes) + " in " + pieces + " pieces";
    }

    /// Bytes in a nanosecond are gigabytes in a second.
    static String rates(Moved moved) {
        return String.format(Locale.ROOT, "out at %.1f GB/s, back at %.1f GB/s", (double) moved.outBytes() / moved.outNanos(),
                (double) moved.backBytes() / moved.backNanos());
    }
}
