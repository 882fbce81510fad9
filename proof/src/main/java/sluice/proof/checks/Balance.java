package sluice.proof.checks;

import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.GpuProcesses;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// The ledger compared with an independent witness: the memory taken since a moment, by both.
///
/// They must agree to the byte on the simulated GPU. A real one may have other users, so there a small difference is
/// allowed. The witness is a process outside the tenant that asks the driver what is free.
public final class Balance {
    /// Seen on an H200 with driver 580: a context takes 5.6 MiB more from the GPU than NVML counts for its process, and
    /// the ledger follows NVML, as nvidia-smi does.
    private static final long UNCOUNTED_BY_NVML = 5_832_704;

    private final Stage stage;
    private final TestTenant tenant;
    private final ProbeProcess witness;
    private long charged;
    private long free;

    private Balance(Stage stage, TestTenant tenant, ProbeProcess witness) {
        this.stage = stage;
        this.tenant = tenant;
        this.witness = witness;
    }

    public static Balance start(Stage stage, TestTenant tenant) {
        Balance balance = new Balance(stage, tenant, stage.bare());
        balance.charged = tenant.chargedBytes();
        balance.free = balance.freeBytes();
        return balance;
    }

    public long chargedBytes() {
        return tenant.chargedBytes() - charged;
    }

    public long takenBytes() {
        return free - freeBytes();
    }

    public long freeBytes() {
        return witness.ask("info").number("free");
    }

    /// Both agree; returns what was charged.
    long check(String when) {
        long seen = chargedBytes();
        long taken = takenBytes();
        if (stage.environment().simulated()) {
            Expect.bytes("the charge " + when, taken, seen);
        }
        Expect.near("the charge " + when, taken, seen);
        return seen;
    }

    /// As [#check], while the process has its context and had none at the start.
    long checkContext(String when) {
        if (stage.environment().simulated()) {
            return check(when);
        }
        long seen = chargedBytes();
        Expect.near("the charge " + when, takenBytes() - UNCOUNTED_BY_NVML, seen);
        return seen;
    }

    /// As [#check], when one context that was there at the start is gone.
    void checkContextGone(String when) {
        if (stage.environment().simulated()) {
            check(when);
        } else {
            Expect.near("the charge " + when, takenBytes() + UNCOUNTED_BY_NVML, chargedBytes());
        }
    }

    /// Both agree, and on more than nothing; a driver that takes nothing for it gives nothing to check.
    long checkTaken(String when, String what) {
        if (takenBytes() == 0 && chargedBytes() == 0) {
            throw new CheckSkipped("this driver takes no memory for " + what);
        }
        return check(when);
    }

    /// All that was taken since the start is given back.
    void checkNothing(String when) {
        check(when);
        Expect.bytes("what is charged " + when + ", beyond what was at the start", 0, chargedBytes());
    }

    /// Whether NVML names a process among those that use the GPU.
    public boolean lists(ProbeProcess process) {
        return Boolean.parseBoolean(witness.ask("nvml").text("available"))
                && GpuProcesses.parse(witness.ask("nvml-processes").text("processes")).containsKey(process.pid());
    }

    static String text(long bytes) {
        return Size.format(bytes);
    }
}
