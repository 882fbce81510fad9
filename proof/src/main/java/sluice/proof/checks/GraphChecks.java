package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.List;
import sluice.cuda.Status;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;

/// Memory that graphs allocate: taken when they are instantiated or launched, kept until a trim.
public final class GraphChecks {
    private GraphChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.GRAPHS, "what a graph allocates is charged while the driver holds it", GraphChecks::charged)
                        .about(MemoryWay.GRAPH),
                new Check(Group.GRAPHS, "a graph above the quota is refused", GraphChecks::refused).about(MemoryWay.GRAPH));
    }

    private static ProbeProcess probe(Stage stage, TestTenant tenant) {
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuGraphLaunch", "cuDeviceGraphMemTrim");
        probe.ask("pool", "sync");
        return probe;
    }

    private static String charged(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        long graph = probe.ask("graph-memory", "capture", 100 * MIB).number("handle");
        balance.check("after the capture");
        long executable = probe.ask("graph-memory", "instantiate", graph).number("handle");
        balance.check("after cuGraphInstantiate");
        for (int launch = 1; launch <= 3; launch++) {
            Expect.success("launch " + launch, probe.ask("graph-memory", "launch", executable).status());
        }
        long held = balance.check("after three launches");
        Expect.that(held >= 100 * MIB, "only " + Balance.text(held) + " are charged");
        Expect.success("cuGraphExecDestroy", probe.ask("graph-memory", "destroy-executable", executable).status());
        Expect.success("cuGraphDestroy", probe.ask("graph-memory", "destroy", graph).status());
        Expect.success("cuDeviceGraphMemTrim", probe.ask("graph-memory", "trim").status());
        long left = balance.check("after the trim");
        Expect.that(left < 8 * MIB, Balance.text(left) + " stay charged after the trim");
        return Balance.text(held) + " charged for three launches of 100 MiB, given back by the trim";
    }

    private static String refused(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        tenant.setRoom(64 * MIB);
        Balance balance = Balance.start(stage, tenant);
        long graph = probe.ask("graph-memory", "capture", 100 * MIB).number("handle");
        Facts made = probe.ask("graph-memory", "instantiate", graph);
        int status = made.status();
        if (status == Status.SUCCESS) {
            status = probe.ask("graph-memory", "launch", made.number("handle")).status();
        }
        Expect.refused("a graph that allocates 100 MiB", status);
        balance.check("after the refusal");
        tenant.setRoom(256 * MIB);
        long executable = made.status() == Status.SUCCESS ? made.number("handle")
                : probe.ask("graph-memory", "instantiate", graph).number("handle");
        Expect.success("the launch with a larger quota", probe.ask("graph-memory", "launch", executable).status());
        balance.check("after the launch with a larger quota");
        return "100 MiB refused with 64 MiB of room, launched with 256 MiB";
    }
}
