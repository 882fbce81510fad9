package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import sluice.cuda.Status;
import sluice.proof.bench.Nanos;
import sluice.proof.bench.Spread;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.facts.GpuProcesses;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.layout.RegionLayout;
import sluice.region.place.Identity;

/// Many processes: all starting CUDA at once, and more than a region can hold.
public final class StartChecks {
    private static final int PROCESSES = 64;
    private static final double MOST_ADDED_NANOS = 5e6;
    private static final long HEAD_START_NANOS = 500_000_000;
    /// Memory that the driver took by itself is booked at most 100 ms later, with the next call.
    private static final long LOOK_MILLIS = 150;
    private static final int[] KILLED_AFTER_MILLIS = {0, 2, 5, 20, 100, 250};
    private static final List<String> DEATHS = List.of("cuInit@1=kill-before", "cuInit@1=kill-after",
            "cuDevicePrimaryCtxRetain@1=kill-before", "cuDevicePrimaryCtxRetain@1=kill-after");

    private StartChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.PROCESSES, PROCESSES + " processes start CUDA at once, each less than 5 ms slower", StartChecks::together).timed(),
                new Check(Group.PROCESSES, "started at the same moment, each is charged with its own memory", StartChecks::each),
                new Check(Group.PROCESSES, "one killed while it starts CUDA holds nobody up", StartChecks::killed).timed(),
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
        List<Double> nanos = new ArrayList<>();
        startAll(stage, settings, PROCESSES, opened -> nanos.add((double) opened.number("processor-nanos"))).forEach(ProbeProcess::kill);
        return Spread.of(nanos);
    }

    /// Processes that open the GPU at the same moment, and what each says about it.
    private static List<ProbeProcess> startAll(Stage stage, Map<String, String> settings, int count, Consumer<Facts> facts) {
        List<ProbeProcess> probes = IntStream.range(0, count).parallel().mapToObj(number -> stage.start(settings)).toList();
        long moment = System.nanoTime() + HEAD_START_NANOS;
        probes.forEach(probe -> probe.tell("open-at", moment));
        for (ProbeProcess probe : probes) {
            Facts opened = probe.answer("open-at");
            Expect.success("opening the GPU", opened.status());
            facts.accept(opened);
        }
        return probes;
    }

    /// The driver's own list, by process number, is the witness.
    private static String each(Stage stage) throws InterruptedException {
        ProbeProcess witness = stage.bare();
        if (witness.ask("nvml").text("available").equals("false")) {
            throw new CheckSkipped("there is no libnvidia-ml.so.1 that works");
        }
        TestTenant tenant = stage.tenant(64 * GIB);
        List<ProbeProcess> probes = startAll(stage, stage.settings(tenant), 8, opened -> { });
        for (int i = 0; i < probes.size(); i++) {
            Expect.success("an allocation", probes.get(i).alloc((i + 1) * 16 * MIB).status());
        }
        Thread.sleep(LOOK_MILLIS);
        probes.forEach(probe -> Expect.success("cuMemGetInfo", probe.ask("info").status()));
        Map<Long, Long> taken = GpuProcesses.parse(witness.ask("nvml-processes").text("processes"));
        for (ProbeProcess probe : probes) {
            Long expected = taken.get(probe.pid());
            if (expected == null) {
                throw new CheckSkipped("NVML numbers processes in another way than this machine");
            }
            Expect.near("the charge of process " + probe.pid(), expected, tenant.chargedBytes(probe.pid()));
        }
        return probes.size() + " processes, each with what NVML says of it";
    }

    private static String killed(Stage stage) throws InterruptedException {
        double without = openNanos(stage, stage.plainSettings());
        TestTenant tenant = stage.tenant(8 * GIB);
        double longest = 0;
        for (int millis : KILLED_AFTER_MILLIS) {
            ProbeProcess victim = stage.start(stage.settings(tenant));
            victim.tell("open");
            Thread.sleep(millis);
            victim.kill();
            longest = Math.max(longest, openNanos(stage, stage.settings(tenant)));
        }
        for (String fault : stage.environment().simulated() ? DEATHS : List.<String>of()) {
            Map<String, String> settings = stage.settings(tenant);
            settings.put("SLUICE_SIM_FAULTS", fault);
            ProbeProcess victim = stage.start(settings);
            victim.tell("open");
            victim.awaitDeath();
            longest = Math.max(longest, openNanos(stage, stage.settings(tenant)));
        }
        Expect.that(longest < without + 1e9, "the next one took " + Nanos.format(longest) + ", without the library " + Nanos.format(without));
        Expect.bytes("what is charged when all are gone", 0, tenant.chargedBytes());
        return "the next one took at most " + Nanos.format(longest) + ", without the library " + Nanos.format(without);
    }

    private static double openNanos(Stage stage, Map<String, String> settings) {
        ProbeProcess probe = stage.start(settings);
        long start = System.nanoTime();
        Stage.open(probe);
        double nanos = System.nanoTime() - start;
        probe.kill();
        return nanos;
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
