package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import java.util.Map;
import sluice.cuda.Status;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.facts.GpuProcesses;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// The memory of contexts, of the code that is loaded into them, and of the driver itself.
public final class ContextChecks {
    private ContextChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.CONTEXTS, "a primary context is charged with what it takes", ContextChecks::primary).about(MemoryWay.CONTEXT),
                new Check(Group.CONTEXTS, "retained twice, it is charged once, until the last release", ContextChecks::retained).about(MemoryWay.CONTEXT),
                new Check(Group.CONTEXTS, "a second context is charged and given back", ContextChecks::second).about(MemoryWay.CREATED_CONTEXT),
                new Check(Group.CONTEXTS, "a module with 64 MiB of data is charged and given back", ContextChecks::module).about(MemoryWay.MODULE),
                new Check(Group.CONTEXTS, "a library with 64 MiB of data is charged and given back", ContextChecks::library).about(MemoryWay.MODULE),
                new Check(Group.CONTEXTS, "a green context is charged and given back", ContextChecks::green).about(MemoryWay.GREEN_CONTEXT),
                new Check(Group.CONTEXTS, "a larger stack is charged and given back", ContextChecks::stack).about(MemoryWay.STACK),
                new Check(Group.CONTEXTS, "all together, the ledger says what NVML says of the process", ContextChecks::reconciled).about(MemoryWay.OVERHEAD));
    }

    private static String primary(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.start(stage.settings(tenant));
        stage.needHook(probe, "cuDevicePrimaryCtxRetain");
        Balance balance = Balance.start(stage, tenant);
        Stage.open(probe);
        long charged = balance.checkContext("after the context is made");
        Expect.that(charged > 0, "nothing is charged");
        Expect.bytes("contexts and overhead in the ledger", charged,
                tenant.uses().contextBytes() + tenant.uses().overheadBytes());
        probe.kill();
        balance.checkNothing("after the process has ended");
        return Size.format(charged) + " charged";
    }

    private static String retained(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.start(stage.settings(tenant));
        stage.needHook(probe, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2");
        Balance balance = Balance.start(stage, tenant);
        Stage.open(probe);
        long once = balance.checkContext("after the first cuDevicePrimaryCtxRetain");
        Expect.success("the second", probe.ask("context", "retain").status());
        Expect.bytes("the charge after the second", once, balance.checkContext("after the second"));
        Expect.success("the first release", probe.ask("context", "release").status());
        Expect.bytes("the charge after the first release", once, balance.checkContext("after the first release"));
        Expect.success("the second release", probe.ask("context", "release").status());
        balance.check("after the last release");
        Expect.that(balance.chargedBytes() < once / 4, Size.format(balance.chargedBytes()) + " stay charged");
        return Size.format(once) + " charged once, " + Size.format(balance.chargedBytes()) + " after the last release";
    }

    private static String second(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuCtxCreate_v2", "cuCtxDestroy_v2");
        Balance balance = Balance.start(stage, tenant);
        Facts created = probe.ask("context", "create");
        Expect.success("cuCtxCreate", created.status());
        Expect.success("100 MiB in it", probe.alloc(100 * MIB).status());
        long charged = balance.check("after cuCtxCreate and 100 MiB");
        Expect.that(charged > 100 * MIB, "only " + Size.format(charged) + " are charged");
        Expect.success("cuCtxDestroy", probe.ask("context", "destroy", created.number("handle")).status());
        balance.check("after cuCtxDestroy");
        Expect.near("what is charged after cuCtxDestroy, beyond what was at the start", 0, balance.chargedBytes());
        return Size.format(charged) + " with 100 MiB in it, nothing afterwards";
    }

    private static String module(Stage stage) {
        return loaded(stage, "load", "cuModuleLoadData", "unload", "cuModuleUnload", "modules");
    }

    private static String library(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuLibraryLoadData", "cuLibraryUnload");
        Balance balance = Balance.start(stage, tenant);
        Facts loaded = probe.ask("context", "load-library", 64 * MIB);
        Expect.success("cuLibraryLoadData", loaded.status());
        long charged = balance.chargedBytes();
        Expect.that(charged >= 64 * MIB, "a library of 64 MiB is charged " + Size.format(charged) + " when it is loaded");
        Expect.success("cuLibraryUnload", probe.ask("context", "unload-library", loaded.number("handle")).status());
        balance.check("after cuLibraryUnload");
        return Size.format(charged) + " charged before it is used, " + Size.format(balance.chargedBytes()) + " after the unload";
    }

    private static String loaded(Stage stage, String load, String loadCall, String unload, String unloadCall, String what) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, loadCall, unloadCall);
        Balance balance = Balance.start(stage, tenant);
        Facts loaded = probe.ask("context", load, 64 * MIB);
        Expect.success(loadCall, loaded.status());
        long charged = balance.checkTaken("after " + loadCall, what);
        Expect.success(unloadCall, probe.ask("context", unload, loaded.number("handle")).status());
        balance.check("after " + unloadCall);
        return Size.format(charged) + " charged, " + Size.format(balance.chargedBytes()) + " after the unload";
    }

    private static String green(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuGreenCtxCreate", "cuGreenCtxDestroy");
        Balance balance = Balance.start(stage, tenant);
        Facts created = probe.ask("context", "create-green");
        if (created.status() == Status.NOT_SUPPORTED || created.status() == Status.NOT_FOUND) {
            throw new CheckSkipped("this driver has no green contexts (" + Status.name(created.status()) + ")");
        }
        Expect.success("cuGreenCtxCreate", created.status());
        long charged = balance.check("after cuGreenCtxCreate");
        Expect.success("cuGreenCtxDestroy", probe.ask("context", "destroy-green", created.number("handle")).status());
        balance.check("after cuGreenCtxDestroy");
        return Size.format(charged) + " beside the primary context, " + Size.format(balance.chargedBytes()) + " afterwards";
    }

    private static String stack(Stage stage) {
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuCtxSetLimit");
        Balance balance = Balance.start(stage, tenant);
        Expect.success("cuCtxSetLimit of 16 KiB", probe.ask("context", "stack", 16 << 10).status());
        long charged = balance.checkTaken("after 16 KiB of stack for each thread", "larger stacks");
        Expect.success("cuCtxSetLimit of 1 KiB", probe.ask("context", "stack", 1 << 10).status());
        balance.check("after 1 KiB of stack for each thread");
        return Size.format(charged) + " charged, " + Size.format(balance.chargedBytes()) + " with the old stack";
    }

    private static String reconciled(Stage stage) {
        ProbeProcess witness = stage.bare();
        if (witness.ask("nvml").text("available").equals("false")) {
            throw new CheckSkipped("there is no libnvidia-ml.so.1 that works");
        }
        TestTenant tenant = stage.tenant(64 * GIB);
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuDevicePrimaryCtxRetain", "cuMemAllocAsync", "cuMemCreate", "cuArrayCreate_v2", "cuModuleLoadData");
        Expect.success("a mixed allocation", probe.ask("mix", 42, 300, 16 * MIB).status());
        Expect.success("a pool", probe.ask("pool", "alloc", 100 * MIB).status());
        Expect.success("physical memory", probe.ask("physical", "create", 64 * MIB).status());
        Expect.success("an array", probe.ask("array", "create", 1024, 1024, 0, 0x20, 4).status());
        Expect.success("a module", probe.ask("context", "load", 64 * MIB).status());
        Expect.success("one more allocation", probe.alloc(10 * MIB).status());
        Map<Long, Long> used = GpuProcesses.parse(witness.ask("nvml-processes").text("processes"));
        if (!used.containsKey(probe.pid())) {
            throw new CheckSkipped("NVML numbers processes in another way than this machine");
        }
        Expect.near("the ledger's total", used.get(probe.pid()), tenant.chargedBytes(probe.pid()));
        return "ledger " + Size.format(tenant.chargedBytes(probe.pid())) + ", NVML " + Size.format(used.get(probe.pid()));
    }
}
