package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Pods on a real node: stock scheduler, kubelet and containerd, and the simulated GPU of 16 GiB.
@Timeout(900)
class RealNodeTest {
    private static final String PROGRAMS = "P=${LD_PRELOAD%/*}/test; ";
    private static final String KERNELS = "printf '.version 6.0\\n.target sm_52\\n.address_size 64\\n.visible .entry sluice_spin(.param .u64 nanoseconds) { ret; }\\n' > /tmp/k; ";
    private static final String ALLOCATE = PROGRAMS + "$P/hog --step 64m; ";
    private static final String COMPUTE = PROGRAMS + KERNELS + "$P/windows /tmp/k 400 10000; ";

    @TempDir
    private static Path folder;

    private static RealNode node;
    private static RealPods pods;

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(RealNode.missing().isEmpty(), RealNode.missing());
        node = new RealNode(folder);
        pods = new RealPods(node);
        pods.template("quarter", "2Gi", "25");
        pods.template("most", "12Gi", "1");
    }

    @AfterAll
    static void stop() throws Exception {
        if (node != null) {
            node.stop();
        }
    }

    /// Nothing of a claim may outlive its pod.
    @AfterEach
    void shouldLeaveNothing() throws Exception {
        pods.pods().forEach(pod -> pods.delete(pod.at("metadata").at("name").text()));
        RealServer.await(() -> pods.pods().isEmpty() && pods.claims().isEmpty());
        assertThat(pods.filesOfClaims()).isEmpty();
        assertThat(node.declared()).isEmpty();
    }

    @Test
    void shouldShareAGpuBetweenTwoPodsAndLetAThirdWait() throws Exception {
        pods.create("a", "quarter", ALLOCATE + COMPUTE + "sleep 1000");
        pods.create("b", "quarter", ALLOCATE + COMPUTE + "sleep 1000");
        pods.awaitPhase("a", "Running");
        pods.awaitPhase("b", "Running");
        pods.create("c", "most", PROGRAMS + "$P/hog --step 64m; sleep 1000");
        pods.awaitLog("a", "done 400");
        pods.awaitLog("b", "done 400");

        for (String pod : new String[] {"a", "b"}) {
            assertThat(pods.log(pod)).contains("total " + (2L << 30)).contains("got 31 ");
            assertThat(share(pods.log(pod))).isLessThan(0.265);
        }
        assertThat(pods.phase("c")).isEqualTo("Pending");
        pods.delete("a");
        pods.awaitLog("c", "total " + (12L << 30));
        assertThat(pods.phase("c")).isEqualTo("Running");
    }

    /// Part of the time that 400 kernels of 10 ms took.
    private static double share(String log) {
        Matcher done = Pattern.compile("done 400 ([0-9.]+)").matcher(log);
        assertThat(done.find()).isTrue();
        System.out.println("a pod with a quarter got " + 4000 / Double.parseDouble(done.group(1)));
        return 4000 / Double.parseDouble(done.group(1));
    }

    @Test
    void shouldGiveAWholeGpuForAnExtendedResource() throws Exception {
        pods.createWithExtendedResource("whole", ALLOCATE + "sleep 1000");
        pods.awaitLog("whole", "got ");

        assertThat(pods.log("whole")).containsPattern("total 1[56][0-9]{9}");
    }
}
