package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.kubernetes.wire.Claim;

/// A new node program beside the old one, and folders that somebody wiped.
class UpdateTest extends OnNode {
    private static final String OLD = "old";
    private static final String NEW = "new";

    private Path socket(String instance) {
        return folder.resolve("kubelet/plugins/gpu.sluice.dev/dra-" + instance + ".sock");
    }

    @Test
    void shouldServeOldAndNewSideBySide() throws Exception {
        allocate();
        Claim second = FakeKubelet.claim("team", "second", "00000000-0000-4000-8000-000000000002");
        allocate(second, "", result("gpu-0000", "1Gi", "5"));
        NodeDriver older = driver(OLD);
        try (FakeKubelet before = new FakeKubelet(folder.resolve("kubelet"), OLD)) {
            String name = before.prepare(CLAIM).getDevices(0).getCdiDeviceIds(0);
            try (NodeDriver _ = driver(NEW); FakeKubelet after = new FakeKubelet(folder.resolve("kubelet"), NEW)) {
                assertThat(after.prepare(CLAIM).getDevices(0).getCdiDeviceIds(0)).as("the same answer").isEqualTo(name);
                assertThat(before.prepare(second).getError()).isEmpty();

                older.close();

                assertThat(socket(OLD)).doesNotExist();
                assertThat(socket(NEW)).exists();
                assertThat(after.unprepare(second)).isEmpty();
                assertThat(after.unprepare(CLAIM)).isEmpty();
                assertThat(written()).isEmpty();
                assertThat(agent.claims).isEmpty();
            }
        }
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the node program, while claims come and go")
    @Test
    void shouldLoseNoClaimWhileTwoProgramsTakeTurns() throws Exception {
        List<Claim> claims = new ArrayList<>();
        for (int number = 10; number < 40; number++) {
            Claim claim = FakeKubelet.claim("team", "claim-" + number, "00000000-0000-4000-8000-0000000000" + number);
            allocate(claim, "", result("gpu-0000", "64Mi", "1"));
            claims.add(claim);
        }
        AtomicBoolean ended = new AtomicBoolean();
        try (NodeDriver _ = driver(NEW); FakeKubelet other = new FakeKubelet(folder.resolve("kubelet"), NEW); ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> restarts = pool.submit(() -> {
                while (!ended.get()) {
                    driver(OLD).close(); // each reconciles what it finds
                }
            });
            List<Future<?>> all = new ArrayList<>();
            for (Claim claim : claims) {
                all.add(pool.submit(() -> {
                    for (int round = 0; round < 5; round++) {
                        assertThat((round % 2 == 0 ? kubelet : other).prepare(claim).getError()).isEmpty();
                        assertThat(agent.claims).containsKey(claim.getUid());
                        assertThat(Files.exists(folder.resolve("cdi/sluice.dev-claim-" + claim.getUid() + ".json"))).isTrue();
                        assertThat((round % 2 == 0 ? other : kubelet).unprepare(claim)).isEmpty();
                    }
                    assertThat(kubelet.prepare(claim).getError()).isEmpty();
                }));
            }
            try {
                for (Future<?> one : all) {
                    one.get();
                }
            } finally {
                ended.set(true);
            }
            restarts.get();
        }
        assertThat(agent.claims).hasSize(claims.size());
        assertThat(cdiFiles()).hasSize(claims.size());
        assertThat(written()).hasSize(claims.size());
    }

    @Fault(kind = Fault.Kind.SWAP, of = "kubelet's folders, wiped while the node program runs")
    @Test
    void shouldMakeItsSocketsAgain() throws Exception {
        Path registry = folder.resolve("kubelet/plugins_registry/gpu.sluice.dev-reg.sock");
        Files.delete(registry);
        kubelet.close();
        driver.wake();

        await(() -> Files.exists(registry));

        kubelet = new FakeKubelet(folder.resolve("kubelet"), "");
        allocate();
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
    }

    @Fault(kind = Fault.Kind.KILL, of = "a pod of the node program, which leaves its sockets")
    @Test
    void shouldRemoveTheSocketsOfAPodThatWasKilled() throws Exception {
        NodeDriver other = driver(OLD);
        Path registry = folder.resolve("kubelet/plugins_registry/gpu.sluice.dev-killed-reg.sock");
        for (Path file : List.of(socket("killed"), registry, folder.resolve("kubelet/plugins_registry/gpu.other.dev-reg.sock"), socket("young"), socket(OLD))) {
            if (!Files.exists(file)) {
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(file)).close();
            }
            if (!file.equals(socket("young"))) {
                assertThat(new ProcessBuilder("touch", "-d", "-1 hour", file.toString()).start().waitFor()).isZero();
            }
        }
        driver.wake();

        await(() -> !Files.exists(socket("killed")) && !Files.exists(registry));

        assertThat(socket(OLD)).as("it listens").exists();
        assertThat(socket("young")).as("it may be about to listen").exists();
        assertThat(folder.resolve("kubelet/plugins_registry/gpu.other.dev-reg.sock")).as("of another driver").exists();
        other.close();
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "what the node program wrote down")
    @Test
    void shouldPrepareAClaimAnewWhoseFileIsDamaged() throws Exception {
        allocate();
        kubelet.prepare(CLAIM);
        Files.writeString(written().getFirst(), "{\"claim\":");
        restart();
        await(() -> cluster.asked.stream().filter(("GET " + SLICE)::equals).count() >= 2);
        assertThat(agent.claims).as("a pod may still use it").containsKey(UID);

        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();

        assertThat(written()).isEmpty();
        assertThat(agent.claims).isEmpty();
    }
}
