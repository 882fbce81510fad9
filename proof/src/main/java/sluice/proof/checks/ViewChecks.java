package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import java.util.Map;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.facts.GpuProcesses;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// A tenant's view of the GPU: its quota and its own processes, without contradictions.
public final class ViewChecks {
    private static final List<String> MEMORY_CALLS = List.of("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2");
    private static final String PROCESS_CALL = "nvmlDeviceGetComputeRunningProcesses";

    private ViewChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.VIEWS, "with more in use than a lowered quota, free is 0", ViewChecks::overLimit)
                        .about(View.CUDA_INFO, View.CUDA_TOTAL),
                new Check(Group.VIEWS, "cuMemGetInfo bears NULL for what is not wanted", ViewChecks::nullResults).about(View.CUDA_INFO),
                new Check(Group.VIEWS, "what a neighbour holds is not shown as free", ViewChecks::neighbour).about(View.CUDA_INFO),
                new Check(Group.VIEWS, "NVML's memory of the GPU is the quota, in both versions", ViewChecks::nvmlMemory).about(View.NVML_MEMORY),
                new Check(Group.VIEWS, "NVML with more in use than a lowered quota says free 0", ViewChecks::nvmlOverLimit).about(View.NVML_MEMORY),
                new Check(Group.VIEWS, "NVML shows no more free than is free on the GPU", ViewChecks::nvmlNeverMore).about(View.NVML_MEMORY),
                new Check(Group.VIEWS, "NVML asked before CUDA is started shows the quota, too", ViewChecks::nvmlFirst).about(View.NVML_MEMORY),
                new Check(Group.VIEWS, "NVML lists the tenant's processes alone, in all versions", ViewChecks::nvmlProcesses).about(View.NVML_PROCESSES),
                new Check(Group.VIEWS, "without a quota CUDA and NVML say what the driver says", ViewChecks::noLimit).about(View.NO_LIMIT));
    }

    private static ProbeProcess needNvml(Stage stage, ProbeProcess probe) {
        if (probe.ask("nvml").text("available").equals("false")) {
            throw new CheckSkipped("there is no libnvidia-ml.so.1 that works");
        }
        stage.needHook(probe, MEMORY_CALLS.toArray(String[]::new));
        return probe;
    }

    private static String overLimit(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = stage.in(tenant);
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        long quota = tenant.chargedBytes() - 100 * MIB;
        tenant.setQuota(quota);
        Facts info = probe.ask("info");
        Expect.bytes("free of cuMemGetInfo", 0, info.number("free"));
        Expect.bytes("total of cuMemGetInfo", quota, info.number("total"));
        Expect.bytes("cuDeviceTotalMem", quota, info.number("device-total"));
        return Size.format(tenant.chargedBytes()) + " used of " + Size.format(quota) + ": free 0";
    }

    private static String nullResults(Stage stage) {
        TestTenant tenant = stage.tenant(2 * GIB);
        Facts answers = stage.in(tenant).ask("info-null");
        Expect.success("cuMemGetInfo(NULL, &total)", (int) answers.number("null-free"));
        Expect.bytes("its total", 2 * GIB, answers.number("total"));
        Expect.success("cuMemGetInfo(&free, NULL)", (int) answers.number("null-total"));
        Expect.bytes("its free", tenant.roomBytes(), answers.number("free"));
        Expect.success("cuMemGetInfo(NULL, NULL)", (int) answers.number("null-both"));
        return "total and free one by one, and neither";
    }

    /// The quota is all of the GPU, so only the neighbour's memory makes the difference.
    private static String neighbour(Stage stage) {
        ProbeProcess outsider = stage.bare();
        ProbeProcess probe = stage.in(stage.tenant(outsider.ask("info").number("total")));
        Expect.success("a neighbour's 1 GiB", outsider.alloc(GIB).status());
        long there = outsider.ask("info").number("free");
        long shown = probe.ask("info").number("free");
        Expect.that(shown <= there || Expect.isNear(there, shown),
                "free is " + Size.format(shown) + " although " + Size.format(there) + " are left");
        return Size.format(there) + " are left on the GPU, shown " + Size.format(shown);
    }

    private static void expectMemory(TestTenant tenant, Facts views) {
        for (String version : List.of("v1", "v2")) {
            Expect.bytes("total, " + version, tenant.quotaBytes(), views.number(version + "-total"));
            Expect.bytes("used, " + version, Math.min(tenant.chargedBytes(), tenant.quotaBytes()), views.number(version + "-used"));
            Expect.bytes("free, " + version, Math.max(0, tenant.roomBytes()), views.number(version + "-free"));
        }
    }

    private static String nvmlMemory(Stage stage) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = needNvml(stage, stage.in(tenant));
        expectMemory(tenant, probe.ask("nvml-views"));
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        Facts views = probe.ask("nvml-views");
        expectMemory(tenant, views);
        Expect.bytes("free of cuMemGetInfo", probe.ask("info").number("free"), views.number("v2-free"));
        return "total " + Size.format(views.number("v2-total")) + ", used " + Size.format(views.number("v2-used"));
    }

    private static String nvmlOverLimit(Stage stage) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = needNvml(stage, stage.in(tenant));
        Expect.success("600 MiB", probe.alloc(600 * MIB).status());
        tenant.setQuota(tenant.chargedBytes() - 100 * MIB);
        Facts views = probe.ask("nvml-views");
        for (String version : List.of("v1", "v2")) {
            Expect.bytes("total, " + version, tenant.quotaBytes(), views.number(version + "-total"));
            Expect.bytes("free, " + version, 0, views.number(version + "-free"));
        }
        return "total " + Size.format(views.number("v2-total")) + ", used " + Size.format(views.number("v2-used")) + ", free 0";
    }

    private static String nvmlNeverMore(Stage stage) {
        if (!stage.environment().simulated()) {
            throw new CheckSkipped("would fill the whole GPU; made on the simulated GPU only");
        }
        ProbeProcess outsider = stage.bare();
        ProbeProcess probe = needNvml(stage, stage.in(stage.tenant(4 * GIB)));
        long left = 512 * MIB;
        Expect.success("filling the GPU", outsider.alloc(outsider.ask("info").number("free") - left).status());
        Facts views = probe.ask("nvml-views");
        for (String version : List.of("v1", "v2")) {
            long free = views.number(version + "-free");
            Expect.that(free <= left, "free is " + Size.format(free) + " although " + Size.format(left) + " are left");
        }
        return "quota 4.0 GiB, " + Size.format(left) + " left on the GPU, shown " + Size.format(views.number("v2-free"));
    }

    private static String nvmlFirst(Stage stage) {
        TestTenant tenant = stage.tenant(4 * GIB);
        ProbeProcess probe = needNvml(stage, stage.start(stage.settings(tenant)));
        Expect.bytes("total before cuInit", 4 * GIB, probe.ask("nvml-views").number("v2-total"));
        Stage.open(probe);
        expectMemory(tenant, probe.ask("nvml-views"));
        return "total 4.0 GiB before and after";
    }

    private static String nvmlProcesses(Stage stage) {
        ProbeProcess outsider = stage.bare();
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess first = needNvml(stage, stage.in(tenant));
        stage.needHook(first, PROCESS_CALL, PROCESS_CALL + "_v2", PROCESS_CALL + "_v3");
        ProbeProcess second = stage.in(tenant);
        Expect.success("300 MiB", first.alloc(300 * MIB).status());
        Expect.success("100 MiB in the second process", second.alloc(100 * MIB).status());
        Expect.success("an outsider's 300 MiB", outsider.alloc(300 * MIB).status());
        Map<Long, Long> expected = Map.of(
                first.pid(), tenant.chargedBytes(first.pid()), second.pid(), tenant.chargedBytes(second.pid()));
        Facts views = first.ask("nvml-views");
        for (String version : List.of("v1", "v2", "v3")) {
            Map<Long, Long> seen = GpuProcesses.parse(views.text(version + "-processes"));
            Expect.that(seen.equals(expected), "version " + version + " lists " + seen + ", expected " + expected);
        }
        return "two processes with " + Size.format(expected.get(first.pid())) + " and " + Size.format(expected.get(second.pid()))
                + ", no outsider";
    }

    private static String noLimit(Stage stage) {
        TestTenant tenant = stage.tenant(0);
        ProbeProcess probe = stage.in(tenant);
        ProbeProcess bare = stage.bare();
        Expect.bytes("total of cuMemGetInfo", bare.ask("info").number("total"), probe.ask("info").number("total"));
        Expect.near("free of cuMemGetInfo", bare.ask("info").number("free"), probe.ask("info").number("free"));
        if (probe.ask("nvml").text("available").equals("true")) {
            Expect.bytes("total of NVML", bare.ask("nvml-views").number("v2-total"), probe.ask("nvml-views").number("v2-total"));
        }
        return "total " + Size.format(probe.ask("info").number("total"));
    }
}
