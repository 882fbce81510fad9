package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.region.place.SluiceException;

/// Agent, node program and kubelet of a real node are killed again and again, while pods come and go. `-Dsluice.kubernetes.kills` says how often.
@Timeout(3600)
class RealKillsTest {
    private static final int KILLS = Integer.getInteger("sluice.kubernetes.kills", 20);
    private static final long SEED = Long.getLong("sluice.kubernetes.seed", System.nanoTime());
    private static final int MOST_PODS = 8;
    private static final long CLAIM_BYTES = 1L << 30;
    private static final List<String> PARTS = List.of("agent", "driver", "kubelet");
    private static final String PROGRAMS = "P=${LD_PRELOAD%/*}/test; ";
    private static final String HOG = "${LD_PRELOAD%/*}/test/hog --step 64m --hold 1000000";

    @TempDir
    private static Path folder;

    private static RealNode node;
    private static RealPods pods;
    private final Random random = new Random(SEED);
    private final List<String> alive = new ArrayList<>();
    private int made;

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(RealNode.missing().isEmpty(), RealNode.missing());
        node = new RealNode(folder);
        pods = new RealPods(node);
        pods.template("one", "1Gi", "10");
        pods.template("all", "15Gi", "10");
    }

    @AfterAll
    static void stop() throws Exception {
        if (node != null) {
            node.stop();
        }
    }

    @Test
    @Fault(kind = Fault.Kind.KILL, of = "agent, node program and kubelet of a real node, while pods come and go")
    void shouldLoseNoClaimAndNoQuotaWhenPartsOfTheNodeAreKilled() throws Exception {
        System.out.println("-Dsluice.kubernetes.seed=" + SEED);
        for (int kill = 0; kill < KILLS; kill++) {
            comeAndGo();
            String part = PARTS.get(random.nextInt(PARTS.size()));
            kill(part);
            comeAndGo();
            Thread.sleep(random.nextInt(1500));
            start(part);
            Thread.sleep(random.nextInt(1500));
            checkMemory();
        }
        for (String pod : alive) {
            pods.awaitLog(pod, "got ");
            assertThat(pods.log(pod)).contains("total " + CLAIM_BYTES);
        }
        checkMemory();
        alive.forEach(pods::delete);
        RealServer.await(() -> pods.pods().isEmpty() && pods.claims().isEmpty());
        RealServer.await(() -> pods.filesOfClaims().isEmpty() && node.declared().isEmpty());
        pods.create("all", "all", HOG);
        pods.awaitLog("all", "total " + 15 * CLAIM_BYTES);
        pods.delete("all");
        RealServer.await(() -> pods.claims().isEmpty());
    }

    /// All six orders; the parts come back in the opposite order.
    @ParameterizedTest
    @ValueSource(strings = {"agent driver kubelet", "agent kubelet driver", "driver agent kubelet", "driver kubelet agent", "kubelet agent driver", "kubelet driver agent"})
    @Fault(kind = Fault.Kind.KILL, of = "agent, node program and kubelet of a real node, in all orders")
    void shouldHoldLimitsOfRunningPodsWhicheverPartIsKilledFirst(String order) throws Exception {
        String pod = order.replace(' ', '-');
        pods.create(pod, "one", HOG.replace("--step", "--count 4 --step"));
        pods.awaitLog(pod, "got 4 ");
        List<String> parts = new ArrayList<>(List.of(order.split(" ")));
        for (String part : parts) {
            kill(part);
        }
        for (String part : parts.reversed()) {
            start(part);
        }
        RealServer.await(() -> answers(node::usedBytes) && node.declared().size() == 1);

        // The context of the second process, too, is on the claim: 1 GiB without 2 x 64 MiB and 4 x 64 MiB.
        RealServer.await(() -> said(() -> node.exec(pod, PROGRAMS + "$P/hog --step 64m")).contains("got 10 "));
        pods.delete(pod);
        RealServer.await(() -> pods.pods().isEmpty() && pods.claims().isEmpty() && pods.filesOfClaims().isEmpty() && node.declared().isEmpty());
    }

    /// As after a reboot: no process is left, and the runtime's folder of CDI files, which is in memory on most nodes, is empty.
    @Test
    @Fault(kind = Fault.Kind.KILL, of = "all processes of a real node")
    void shouldGiveAPodItsLimitsAgainAfterTheNodeStartedAgain() throws Exception {
        pods.createLasting("lasting", "one", HOG);
        pods.awaitLog("lasting", "got 15 ");
        for (String part : List.of("kubelet", "driver", "agent")) {
            kill(part);
        }
        node.endContainers();
        for (String part : List.of("kubelet", "agent", "driver")) {
            start(part);
        }

        RealServer.await(() -> pods.restarts("lasting") > 0);
        pods.awaitLog("lasting", "got 15 ");
        pods.delete("lasting");
        RealServer.await(() -> pods.claims().isEmpty() && pods.filesOfClaims().isEmpty() && node.declared().isEmpty());
    }

    private static boolean answers(Supplier<?> question) {
        try {
            question.get();
            return true;
        } catch (SluiceException e) {
            return false;
        }
    }

    private static String said(Callable<String> command) {
        try {
            return command.call();
        } catch (Exception e) {
            return "";
        }
    }

    private static void kill(String part) throws Exception {
        if (part.equals("kubelet")) {
            node.killKubelet();
        } else {
            node.kill(part);
        }
    }

    private static void start(String part) throws Exception {
        switch (part) {
            case "agent" -> node.startAgent();
            case "driver" -> node.startDriver();
            default -> node.startKubelet();
        }
    }

    private void comeAndGo() {
        if (alive.size() < MOST_PODS && (alive.size() < 2 || random.nextBoolean())) {
            String name = "pod-" + made++;
            pods.create(name, "one", HOG);
            alive.add(name);
        } else {
            pods.delete(alive.remove(random.nextInt(alive.size())));
        }
    }

    /// What the driver has given away is no more than what the claims of all pods allow, ended ones that still run too.
    private void checkMemory() throws InterruptedException {
        RealServer.await(() -> answers(node::usedBytes));
        long claims = pods.claims().size();
        long used = node.usedBytes();
        assertThat(used).as("with %s claims", claims).isLessThanOrEqualTo(Math.max(claims, pods.claims().size()) * CLAIM_BYTES);
    }
}
