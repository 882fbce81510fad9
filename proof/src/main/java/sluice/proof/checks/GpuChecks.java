package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;

/// Several GPUs: each has a quota of its own, by the number that nvidia-smi gives it.
public final class GpuChecks {
    private static final Map<String, String> TWO_IN_ORDER =
            Map.of("SLUICE_SIM_GPUS", "2", "CUDA_DEVICE_ORDER", "PCI_BUS_ID");

    private GpuChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.GPUS, "each GPU has its own quota", GpuChecks::ownQuota),
                new Check(Group.GPUS, "hiding a GPU does not move its quota to another", GpuChecks::hidden),
                new Check(Group.GPUS, "a GPU named by its UUID has its quota, CUDA asked first", stage -> byUuid(stage, false)),
                new Check(Group.GPUS, "a GPU named by its UUID has its quota, NVML asked first", stage -> byUuid(stage, true)));
    }

    private static String ownQuota(Stage stage) {
        ProbeProcess probe = stage.in(stage.tenant(new long[] {2 * GIB, 3 * GIB}), TWO_IN_ORDER);
        needTwo(probe);
        for (int gpu = 0; gpu < 2; gpu++) {
            long quota = (gpu + 2) * GIB;
            Expect.success("opening GPU " + gpu, probe.ask("open", gpu).status());
            Expect.bytes("total shown on GPU " + gpu, quota, probe.ask("info").number("total"));
            Expect.success("all that is free on GPU " + gpu, probe.alloc(probe.ask("info").number("free")).status());
            Expect.refused("one byte more", probe.alloc(1).status());
        }
        return "2.0 GiB on GPU 0 and 3.0 GiB on GPU 1, in one process";
    }

    private static String hidden(Stage stage) {
        TestTenant tenant = stage.tenant(new long[] {2 * GIB, 3 * GIB});
        needTwo(stage.in(tenant, TWO_IN_ORDER));
        Map<String, String> second = new HashMap<>(TWO_IN_ORDER);
        second.put("CUDA_VISIBLE_DEVICES", "1");
        ProbeProcess probe = stage.in(tenant, second);
        if (probe.ask("device").number("count") != 1) {
            throw new CheckSkipped("this driver does not know CUDA_VISIBLE_DEVICES");
        }
        Expect.bytes("total shown on the second GPU, the only one visible", 3 * GIB, probe.ask("info").number("total"));
        return "CUDA_VISIBLE_DEVICES=1 shows the 3.0 GiB of GPU 1";
    }

    /// The last GPU of the machine, which is the first and only one for the program.
    private static String byUuid(Stage stage, boolean nvmlFirst) {
        Map<String, String> bare = stage.plainSettings();
        bare.putAll(TWO_IN_ORDER);
        String[] uuids = stage.start(bare).ask("nvml-gpus").text("uuids").split(",");
        if (uuids[0].isEmpty()) {
            throw new CheckSkipped("there is no libnvidia-ml.so.1 that works");
        }
        long[] limits = new long[uuids.length];
        Arrays.setAll(limits, gpu -> (gpu + 2) * GIB);
        TestTenant tenant = stage.tenant(limits);
        Map<String, String> settings = stage.settings(tenant);
        settings.putAll(TWO_IN_ORDER);
        settings.put("CUDA_VISIBLE_DEVICES", uuids[uuids.length - 1]);
        ProbeProcess probe = stage.start(settings);
        if (nvmlFirst) {
            expectLimits(limits, probe);
        }
        Stage.open(probe);
        Expect.bytes("total of cuMemGetInfo", limits[limits.length - 1], probe.ask("info").number("total"));
        expectLimits(limits, probe);
        return "GPU " + (uuids.length - 1) + " of " + uuids.length + " shows " + Size.format(limits[limits.length - 1]);
    }

    private static void expectLimits(long[] limits, ProbeProcess probe) {
        String expected = Arrays.stream(limits).mapToObj(Long::toString).collect(Collectors.joining(","));
        String shown = probe.ask("nvml-gpus").text("totals");
        Expect.that(shown.equals(expected), "NVML shows " + shown + ", expected " + expected);
    }

    private static void needTwo(ProbeProcess probe) {
        if (probe.ask("device").number("count") < 2) {
            throw new CheckSkipped("needs two GPUs");
        }
    }
}
