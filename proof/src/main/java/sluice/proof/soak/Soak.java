package sluice.proof.soak;

import static sluice.proof.stage.Stage.GIB;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import sluice.cuda.Status;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.Environment;
import sluice.proof.stage.Interruption;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.limits.Size;
import sluice.region.place.SluiceException;

/// Many processes of one tenant take and give memory at random for a long time, are killed, and have their quota changed.
/// From time to time the soak stops them all. Then the ledger must equal the simulated driver's figures, process by process.
public final class Soak {
    private static final long PHASE_MILLIS = 2500;
    private static final int ATTEMPTS = 100;
    private static final long LEAST_QUOTA = GIB;
    private static final long MOST_QUOTA = 9 * GIB;

    /// @param seed where all randomness begins; processes still meet as the machine lets them
    public record Options(Duration duration, int processes, long seed) {}

    private final Stage stage;
    private final Options options;
    private final Random random;
    private final TestTenant tenant;
    private final SoakLedger ledger;
    private final List<ProbeProcess> probes = new ArrayList<>();
    private long highestQuota;
    private long used;
    private long steps;
    private int born;

    private Soak(Stage stage, Options options) {
        this.stage = stage;
        this.options = options;
        random = new Random(options.seed());
        tenant = stage.tenant(MOST_QUOTA);
        ledger = new SoakLedger(tenant, stage.bare());
    }

    /// Runs to the end; throws, with the seed, if the ledger is wrong.
    public static void run(Environment environment, Options options, Consumer<String> progress) {
        if (!environment.simulated()) {
            throw new SluiceException("a soak needs the simulated GPU, whose figures are exact; add --sim");
        }
        try (Stage stage = new Stage(environment)) {
            new Soak(stage, options).run(progress);
        } catch (CheckFailed failed) {
            Interruption.rethrow();
            throw new SluiceException("seed " + options.seed() + ": " + failed.getMessage(), failed);
        }
    }

    private void run(Consumer<String> progress) {
        for (int i = 0; i < options.processes(); i++) {
            probes.add(open());
        }
        probes.forEach(this::begin);
        long end = System.nanoTime() + options.duration().toNanos();
        for (int phase = 1; System.nanoTime() < end; phase++) {
            disturb(System.nanoTime() + PHASE_MILLIS * 1_000_000);
            progress.accept("phase " + phase + ": " + check());
            probes.forEach(probe -> probe.ask("soak", "go"));
        }
        probes.forEach(probe -> probe.tell("soak", "quiet"));
        probes.forEach(this::quiet);
        probes.forEach(probe -> probe.ask("soak", "drain"));
        ledger.checkDrained();
        probes.forEach(ProbeProcess::kill);
        ledger.checkEmpty();
        progress.accept(steps + " steps, " + (born - options.processes()) + " processes killed and replaced; nothing is left");
    }

    /// The quota may have no room for one more context just now.
    private ProbeProcess open() {
        ProbeProcess probe = stage.start(stage.settings(tenant));
        int status = probe.ask("open").status();
        for (int attempt = 0; status == Status.OUT_OF_MEMORY && attempt < ATTEMPTS; attempt++) {
            pause(200);
            status = probe.ask("open").status();
        }
        Expect.success("opening the GPU", status);
        ledger.begin(probe, stage);
        return probe;
    }

    private void begin(ProbeProcess probe) {
        probe.ask("soak", "start", options.seed() * 1_000_003 + born++, stage.hooks(probe, "cuCtxCreate_v2") ? 1 : 0);
    }

    /// Kills processes and changes the quota until the phase is over.
    private void disturb(long end) {
        highestQuota = tenant.quotaBytes();
        while (System.nanoTime() < end) {
            pause(random.nextLong(PHASE_MILLIS / 2));
            switch (random.nextInt(3)) {
                case 0 -> replaceOne();
                case 1 -> changeQuota();
                default -> { }
            }
        }
    }

    private void replaceOne() {
        int index = random.nextInt(probes.size());
        probes.get(index).kill();
        stage.forget(probes.get(index));
        tenant.setQuota(MOST_QUOTA);
        highestQuota = MOST_QUOTA;
        probes.set(index, open());
        begin(probes.get(index));
    }

    private void changeQuota() {
        long quota = LEAST_QUOTA + random.nextLong(MOST_QUOTA - LEAST_QUOTA);
        tenant.setQuota(quota);
        highestQuota = Math.max(highestQuota, quota);
    }

    private String check() {
        probes.forEach(probe -> probe.tell("soak", "quiet"));
        long refusals = 0;
        steps = 0;
        for (ProbeProcess probe : probes) {
            Facts facts = quiet(probe);
            steps += facts.number("steps");
            refusals += facts.number("refusals");
        }
        long before = used;
        used = ledger.check(probes);
        Expect.that(used <= Math.max(before, highestQuota), Size.format(used) + " are used although the quota was never above "
                + Size.format(highestQuota) + " since " + Size.format(before) + " were used");
        return probes.size() + " processes, " + born + " ever, " + steps + " steps and " + refusals + " refusals by those that live, quota "
                + Size.format(tenant.quotaBytes()) + ", used " + Size.format(used) + ", as the driver says";
    }

    private Facts quiet(ProbeProcess probe) {
        Facts facts = probe.answer("soak");
        Expect.that(facts.text("failure").isEmpty(), "process " + probe.pid() + ": " + facts.text("failure"));
        return facts;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            throw new CheckFailed("interrupted");
        }
    }
}
