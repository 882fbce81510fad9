package sluice.proof;

import static sluice.proof.Stage.GIB;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sluice.cuda.Status;
import sluice.region.Identity;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.RegionLayout;

/// Many processes: all starting CUDA at once, and more than a region can hold.
final class StartChecks {
    private static final int PROCESSES = 64;
    private static final double MOST_ADDED_NANOS = 5e6;
    private static final long HEAD_START_NANOS = 500_000_000;

    private StartChecks() {}

    static List<Check> checks() {
        return List.of(
                new Check(Group.PROCESSES, PROCESSES + " processes start CUDA at once, each less than 5 ms slower", StartChecks::together),
                new Check(Group.PROCESSES, "one process too many is refused cleanly", StartChecks::noSlot));
    }

    private static String together(Stage stage) {
        if (!stage.environment().simulated()) {
            throw new CheckSkipped("64 contexts need more memory than a quota's worth; made on the simulated GPU only");
        }
        TestTenant tenant = stage.tenant(12 * GIB);
        Spread without = processorNanos(stage, stage.plainSettings());
        Spread with = processorNanos(stage, stage.settings(tenant));
        Expect.that(tenant.read().processes().size() == PROCESSES,
                "only " + tenant.read().processes().size() + " of them are in the region");
        double added = with.median() - without.median();
        Expect.that(added < MOST_ADDED_NANOS, "each took " + Nanos.format(added) + " longer");
        return "from cuInit to the first memory " + Nanos.format(with.median()) + " each, without the library "
                + Nanos.format(without.median()) + " (median processor time)";
    }

    private static Spread processorNanos(Stage stage, Map<String, String> settings) {
        List<ProbeProcess> probes = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            probes.add(stage.start(settings));
        }
        long moment = System.nanoTime() + HEAD_START_NANOS;
        probes.forEach(probe -> probe.tell("open-at", moment));
        List<Double> nanos = new ArrayList<>();
        for (ProbeProcess probe : probes) {
            Facts opened = probe.answer("open-at");
            Expect.success("opening the GPU", opened.status());
            nanos.add((double) opened.number("processor-nanos"));
        }
        probes.forEach(ProbeProcess::kill);
        return Spread.of(nanos);
    }

    /// This process takes all slots itself; it lives, so none of them is free.
    private static String noSlot(Stage stage) {
        TestTenant tenant = stage.tenant(GIB);
        try (Region region = Region.openReadWrite(tenant.file())) {
            for (int slot = 0; slot < RegionLayout.SLOT_COUNT; slot++) {
                Ledger.claim(region, Identity.self());
            }
        }
        ProbeProcess probe = stage.start(stage.settings(tenant));
        Expect.status("cuInit", Status.NOT_PERMITTED, probe.ask("open").status());
        List<String> said = probe.stderr();
        Expect.that(said.size() == 1 && said.getFirst().startsWith("sluice: "), "stderr should be one line, but is " + said);
        return "it said: " + said.getFirst();
    }
}
