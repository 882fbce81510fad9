package sluice.proof.checks.pause;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import sluice.proof.bench.Nanos;
import sluice.proof.checks.Check;
import sluice.proof.checks.Group;
import sluice.proof.facts.Expect;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;
import sluice.region.pause.Depth;
import sluice.region.pause.TenantPause;

/// A pause that holds a tenant: it submits no work, soon after it was asked. [ReleaseChecks] are about its memory.
public final class PauseChecks {
    private static final long QUOTA_BYTES = 4 * Stage.GIB;
    private static final long KERNEL_NANOS = 50_000;
    private static final long HELD_MILLIS = 300;
    private static final int HOLDS = 20;
    private static final long RUNNING_MILLIS = 20;
    private static final long PATIENCE_NANOS = 10_000_000_000L;
    private static final long MOST_NANOS = 20_000_000;
    /// Work of the simulated GPU needs the same processors as the program.
    private static final long MOST_SIMULATED_NANOS = 200_000_000;

    private PauseChecks() {}

    public static List<Check> checks() {
        List<Check> own = List.of(
                new Check(Group.PAUSE, "a paused tenant submits no work", PauseChecks::held),
                new Check(Group.PAUSE, "a pause with short kernels takes milliseconds", PauseChecks::latency).timed());
        return Stream.concat(own.stream(), ReleaseChecks.checks().stream()).toList();
    }

    private static String held(Stage stage) throws InterruptedException {
        TestTenant tenant = stage.tenant(QUOTA_BYTES);
        ProbeProcess probe = working(stage, tenant);
        tenant.ask(Depth.HOLD).done();
        long before = kernels(probe);
        Thread.sleep(HELD_MILLIS);
        long after = kernels(probe);
        Expect.safe(after == before, after - before + " kernels began while the tenant was paused");
        tenant.ask(Depth.RUN).done();
        awaitMore(probe, after);
        return before + " kernels, none more in " + HELD_MILLIS + " ms, then it went on";
    }

    private static String latency(Stage stage) throws InterruptedException {
        TestTenant tenant = stage.tenant(QUOTA_BYTES);
        ProbeProcess probe = working(stage, tenant);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < HOLDS; i++) {
            TenantPause held = tenant.ask(Depth.HOLD).done();
            nanos.add(held.sinceNanos() - held.asked().atNanos());
            tenant.ask(Depth.RUN).done();
            awaitMore(probe, kernels(probe));
            Thread.sleep(RUNNING_MILLIS);
        }
        nanos.sort(null);
        long median = nanos.get(HOLDS / 2);
        String seen = HOLDS + " pauses between kernels of 50 µs: median " + Nanos.format(median) + ", longest " + Nanos.format(nanos.getLast());
        long most = stage.environment().simulated() ? MOST_SIMULATED_NANOS : MOST_NANOS;
        Expect.that(median <= most, seen + "; expected at most " + Nanos.format(most));
        return seen;
    }

    private static ProbeProcess working(Stage stage, TestTenant tenant) {
        ProbeProcess probe = stage.in(tenant);
        probe.ask("steady", "begin", KERNEL_NANOS);
        awaitMore(probe, kernels(probe));
        return probe;
    }

    private static long kernels(ProbeProcess probe) {
        return probe.ask("steady", "count").number("kernels");
    }

    private static void awaitMore(ProbeProcess probe, long before) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (kernels(probe) == before) {
            Expect.that(System.nanoTime() < end, "no kernel began within " + Nanos.format(PATIENCE_NANOS) + " although the tenant is not paused");
        }
    }
}
