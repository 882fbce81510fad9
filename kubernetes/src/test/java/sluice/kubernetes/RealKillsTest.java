package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.place.SluiceException;

/// Agent, node program and kubelet of a real node are killed again and again, while pods come and go. `-Dsluice.kubernetes.kills` says how often.
@Timeout(3600)
class RealKillsTest {
    private static final int KILLS = Integer.getInteger("sluice.kubernetes.kills", 20);
    private static final long SEED = Long.getLong("sluice.kubernetes.seed", System.nanoTime());
    private static final int MOST_PODS = 8;
    private static final long CLAIM_BYTES = 1L << 30;
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
            Runnable again = killOne();
            comeAndGo();
            Thread.sleep(random.nextInt(1500));
            again.run();
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
        assertThat(pods.filesOfClaims()).isEmpty();
        assertThat(node.declared()).isEmpty();
        pods.create("all", "all", HOG);
        pods.awaitLog("all", "total " + 15 * CLAIM_BYTES);
        pods.delete("all");
        RealServer.await(() -> pods.claims().isEmpty());
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

    /// @return what starts it again
    private Runnable killOne() throws Exception {
        switch (random.nextInt(3)) {
            case 0 -> {
                node.kill("agent");
                return () -> unchecked(node::startAgent);
            }
            case 1 -> {
                node.kill("driver");
                return () -> unchecked(node::startDriver);
            }
            default -> {
                node.killKubelet();
                return () -> unchecked(node::startKubelet);
            }
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void unchecked(Step step) {
        try {
            step.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /// What the driver has given away is no more than what the claims of all pods allow, ended ones that still run too.
    private void checkMemory() {
        long claims = pods.claims().size();
        long used;
        try {
            used = node.usedBytes();
        } catch (SluiceException e) {
            return; // It is only starting.
        }
        assertThat(used).as("with %s claims", claims).isLessThanOrEqualTo(Math.max(claims, pods.claims().size() + 1) * CLAIM_BYTES);
    }
}
