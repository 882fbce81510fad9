package sluice.proof;

import static sluice.proof.Stage.GIB;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Several GPUs: each has a quota of its own, by the number that nvidia-smi gives it.
final class GpuChecks {
    private static final Map<String, String> TWO_IN_ORDER =
            Map.of("SLUICE_SIM_GPUS", "2", "CUDA_DEVICE_ORDER", "PCI_BUS_ID");

    private GpuChecks() {}

    static List<Check> checks() {
        return List.of(
                new Check(Group.GPUS, "each GPU has its own quota", GpuChecks::ownQuota),
                new Check(Group.GPUS, "hiding a GPU does not move its quota to another", GpuChecks::hidden));
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

    private static void needTwo(ProbeProcess probe) {
        if (probe.ask("device").number("count") < 2) {
            throw new CheckSkipped("needs two GPUs");
        }
    }
}
