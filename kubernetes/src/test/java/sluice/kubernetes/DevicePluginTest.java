package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.api.json.JsonTree;
import sluice.fault.Fault;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.wire.plugin.ContainerAllocateResponse;
import sluice.kubernetes.wire.plugin.Mount;

/// The node program as a device plugin, between a fake kubelet, a fake agent and a fake API server, over real sockets.
@Timeout(120)
class DevicePluginTest {
    private static final String MEMORY = "sluice.dev/gpu-memory";
    private static final String COMPUTE = "sluice.dev/gpu-compute";
    private static final String ALNAIR_MEMORY = "alnair/vgpu-memory";
    private static final String ALNAIR_COMPUTE = "alnair/vgpu-compute";
    private static final String MAIN = "team/train/main";

    @TempDir
    private Path folder;

    private FakeHttp cluster;
    private FakeAgent agent;
    private FakeDeviceManager kubelet;
    private Runnable end = () -> {};
    private final List<String> options = new ArrayList<>();
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeHttp();
        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        kubelet = new FakeDeviceManager(folder.resolve("kubelet"));
        restart();
    }

    private void restart() throws InterruptedException {
        end.run();
        List<String> all = new ArrayList<>(List.of("--node", "node-1", "--agent", folder.resolve("agent/agent.sock").toString(), "--kubelet", folder.resolve("kubelet").toString(),
                "--state", folder.resolve("state").toString(), "--device-plugin", "on", "--alnair-workspaces", folder.resolve("workspaces").toString()));
        all.addAll(options);
        end = NodeProgram.start(NodeSettings.parse(all, Map.of()), new ClusterClient(cluster.address(), Optional.empty(), Optional.empty()), new PrintStream(log, true, StandardCharsets.UTF_8));
        await(() -> kubelet.healthy(MEMORY) > 0 && kubelet.healthy(COMPUTE) > 0);
    }

    private void withAlnair(String... more) throws InterruptedException {
        options.addAll(List.of("--alnair", "on"));
        options.addAll(List.of(more));
        cluster.put("/api/v1/nodes/node-1", "{}");
        restart();
        await(() -> kubelet.healthy(ALNAIR_MEMORY) > 0 && kubelet.healthy(ALNAIR_COMPUTE) > 0);
    }

    @AfterEach
    void stop() throws IOException {
        end.run();
        kubelet.close();
        agent.close();
        cluster.close();
    }

    private void await(BooleanSupplier condition) throws InterruptedException {
        for (int attempt = 0; attempt < 400 && !condition.getAsBoolean(); attempt++) {
            Thread.sleep(25);
        }
        assertThat(condition.getAsBoolean()).as(log.toString(StandardCharsets.UTF_8) + kubelet.problems).isTrue();
    }

    private JsonTree onlyClaim() {
        assertThat(agent.claims).hasSize(1);
        return JsonTree.parse(agent.claims.values().iterator().next().getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, Integer> both(int memory, int compute) {
        Map<String, Integer> both = new LinkedHashMap<>();
        both.put(MEMORY, memory);
        both.put(COMPUTE, compute);
        return both;
    }

    private static Map<String, Integer> turned(Map<String, Integer> resources) {
        Map<String, Integer> turned = new LinkedHashMap<>();
        resources.entrySet().stream().toList().reversed().forEach(each -> turned.put(each.getKey(), each.getValue()));
        return turned;
    }

    private static List<String> gpus(List<String> units) {
        return units.stream().map(unit -> unit.substring(0, unit.indexOf('_'))).distinct().sorted().toList();
    }

    @Test
    void shouldHaveMetricsAndProbesAsTheDriverHas() throws Exception {
        int hami = MetricsTest.freePort();
        int health = MetricsTest.freePort();
        options.addAll(List.of("--hami-port", Integer.toString(hami), "--health-port", Integer.toString(health)));
        restart();

        try (HttpClient client = HttpClient.newHttpClient()) {
            assertThat(client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + hami + "/metrics")).build(), BodyHandlers.ofString()).body()).isEqualTo("names of hami\n");
            for (String path : List.of("/ready", "/live")) {
                assertThat(client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + health + path)).build(), BodyHandlers.ofString()).statusCode()).as(path).isEqualTo(200);
            }
        }
    }

    @Test
    void shouldListTheUnitsOfEachGpu() {
        // 16 GiB without three percent, rounded down to 64 MiB, in units of 256 MiB.
        assertThat(kubelet.list(MEMORY)).hasSize(2 * 62).containsKeys("GPU-0000_0", "GPU-0001_61");
        assertThat(kubelet.list(COMPUTE)).hasSize(200).containsKey("GPU-0001_99");
        assertThat(kubelet.registered).allMatch(request -> request.getVersion().equals("v1beta1") && request.getOptions().getPreStartRequired()
                && request.getOptions().getGetPreferredAllocationAvailable());
    }

    @Test
    void shouldMakeAContainerOneTenantBeforeItStarts() {
        ContainerAllocateResponse given = kubelet.admit(MAIN, both(8, 25)).get(MEMORY);
        assertThat(agent.claims).as("kubelet has not said yet for which container").isEmpty();

        kubelet.preStart(MAIN);

        JsonTree claim = onlyClaim();
        assertThat(claim.at("limits").at("memory").text()).isEqualTo((2L << 30) + "b");
        assertThat(claim.at("limits").at("compute").text()).isEqualTo("25%");
        assertThat(claim.at("namespace").text()).isEqualTo("team");
        assertThat(claim.at("pod").text()).isEqualTo("train");
        assertThat(claim.at("container").text()).isEqualTo("main");
        assertThat(given.getEnvsOrThrow("SLUICE_LABEL")).isEqualTo("claim:" + claim.at("token").text());
        assertThat(given.getEnvsOrThrow("LD_PRELOAD")).isEqualTo("/opt/sluice/lib/libsluice.so");
        assertThat(given.getEnvsOrThrow("NVIDIA_VISIBLE_DEVICES")).isEqualTo("void");
        assertThat(given.getCdiDevices(0).getName()).isEqualTo("nvidia.com/gpu=" + claim.at("gpus").elements().getFirst().text());
        assertThat(given.getMountsList()).extracting(Mount::getHostPath).contains("/opt/sluice/lib");
        assertThat(given.getMountsList()).allMatch(Mount::getReadOnly);
    }

    @Test
    void shouldKeepBothHalvesOnOneGpuInEitherOrder() throws Exception {
        Random random = new Random(21);
        int pods = 0;
        long earlySplits = 0;
        for (int number = 0; number < 40; number++) {
            Map<String, Integer> wanted = both(1 + random.nextInt(6), 1 + random.nextInt(9));
            String container = "team/pod-" + number + "/main";
            try {
                kubelet.admit(container, random.nextBoolean() ? wanted : turned(wanted));
            } catch (StatusRuntimeException e) {
                kubelet.end(container);
                break;
            }
            kubelet.preStart(container);
            pods++;
            earlySplits = pods == 15 ? splits() : earlySplits;
        }
        System.out.printf("device plugin: %d containers, %d with memory and GPU time on different GPUs%n", pods, splits());
        assertThat(earlySplits).as("while there is room").isZero();
        assertThat(pods).isGreaterThan(15);
        assertThat(agent.claims).hasSize(pods);
    }

    private long splits() {
        return log.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains(" memory on ")).count();
    }

    @Test
    void shouldPreferTheFullestGpuThatHasRoom() {
        assertThat(gpus(kubelet.prefer(MEMORY, 10))).hasSize(1);
        kubelet.admit(MAIN, Map.of(MEMORY, 40));
        String first = gpus(kubelet.prefer(MEMORY, 10)).getFirst();
        kubelet.hold("team/b/main", MEMORY, kubelet.prefer(MEMORY, 10));
        assertThat(kubelet.prefer(MEMORY, 30)).as("does not fit beside the others").noneMatch(unit -> unit.startsWith(first));
        assertThat(gpus(kubelet.prefer(MEMORY, 12))).containsExactly(first);
        assertThat(kubelet.prefer(MEMORY, 63)).as("no GPU has so many, and they cannot be halved").isEmpty();
    }

    @Test
    void shouldGiveAsMuchOfSeveralGpus() {
        kubelet.admit(MAIN, Map.of(MEMORY, 124));
        kubelet.preStart(MAIN);
        assertThat(onlyClaim().at("gpus").elements()).hasSize(2);
        assertThat(onlyClaim().at("limits").at("memory").text()).isEqualTo(62 * (256L << 20) + "b");
    }

    @Test
    void shouldRefuseWhatIsNoPartOfOneGpu() {
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("GPU-0000_1", "GPU-0000_2", "GPU-0001_1"))).hasMessageContaining("no GPU of the node has so many free units");
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("GPU-0000_62"))).hasMessageContaining("is no unit");
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("GPU-0009_1"))).hasMessageContaining("GPU-0009 any more");
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of())).hasMessageContaining("no GPU");
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("../../etc/passwd_1"))).hasMessageContaining("is no unit of a GPU");
    }

    @Test
    void shouldNotStartAContainerWithGpuTimeAlone() {
        kubelet.admit(MAIN, Map.of(COMPUTE, 20));
        assertThatThrownBy(() -> kubelet.preStart(MAIN)).hasMessageContaining("sluice.dev/gpu-compute needs sluice.dev/gpu-memory");
    }

    @Test
    void shouldGiveAnInitContainerLimitsOfItsPod() {
        // Kubelet gives the units of an init container again to a container of the pod, and names only that one.
        List<String> units = kubelet.prefer(MEMORY, 4);
        ContainerAllocateResponse init = kubelet.allocate(MEMORY, units);
        ContainerAllocateResponse main = kubelet.allocate(MEMORY, units);
        kubelet.hold(MAIN, MEMORY, units);
        kubelet.preStart(MAIN);

        assertThat(agent.claims).hasSize(2);
        assertThat(agent.claims.values()).allMatch(claim -> claim.contains((1L << 30) + "b") && claim.contains("train"));
        assertThat(init.getEnvsOrThrow("SLUICE_LABEL")).isNotEqualTo(main.getEnvsOrThrow("SLUICE_LABEL"));
    }

    @Fault(kind = Fault.Kind.KILL, of = "kubelet, the node program and the agent of a device plugin, in any order")
    @Test
    void shouldGoOnAfterRestartsInAnyOrder() throws Exception {
        Random random = new Random(7);
        for (int round = 0; round < 8; round++) {
            String container = "team/pod-" + round + "/main";
            kubelet.admit(container, both(2, 5));
            String before = String.join(",", new TreeMap<>(agent.claims).keySet());
            for (int step = 0; step < 2; step++) {
                switch (random.nextInt(3)) {
                    case 0 -> {
                        kubelet.stop();
                        Thread.sleep(random.nextInt(200));
                        kubelet.start();
                    }
                    case 1 -> restart();
                    default -> {
                        agent.close();
                        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
                    }
                }
            }
            await(() -> kubelet.healthy(MEMORY) > 0 && kubelet.healthy(COMPUTE) > 0);
            startUntilItWorks(container);
            String claim = agent.claims.values().stream().filter(text -> text.contains(container.split("/")[1] + "\"")).findFirst().orElseThrow(() -> new AssertionError("before: " + before));
            assertThat(claim).contains((512L << 20) + "b").contains("5%");
        }
        assertThat(agent.claims.size()).isBetween(1, 8);
        await(() -> agent.claims.size() == 8);
    }

    /// As kubelet does it.
    private void startUntilItWorks(String container) throws InterruptedException {
        for (int attempt = 0;; attempt++) {
            try {
                kubelet.preStart(container);
                return;
            } catch (StatusRuntimeException e) {
                if (attempt == 100) {
                    throw e;
                }
                Thread.sleep(100);
            }
        }
    }

    @Test
    void shouldRegisterAgainWhenKubeletMadeItsSocketAnew() throws Exception {
        int before = kubelet.registered.size();
        kubelet.stop();
        kubelet.start();
        await(() -> kubelet.healthy(MEMORY) == 124 && kubelet.healthy(COMPUTE) == 200);
        assertThat(kubelet.registered.size()).isGreaterThanOrEqualTo(before + 2);
    }

    @Test
    void shouldTellKubeletOfAGpuThatFellIll() throws Exception {
        agent.health = "\"ecc\"";
        await(() -> kubelet.healthy(MEMORY) == 62 && kubelet.healthy(COMPUTE) == 100);
        agent.health = "";
        await(() -> kubelet.healthy(MEMORY) == 124);
    }

    @Fault(kind = Fault.Kind.STOP, of = "the agent, while a container of the device plugin starts")
    @Test
    void shouldNotStartAContainerThatTheAgentDoesNotKnow() throws Exception {
        kubelet.admit(MAIN, both(4, 10));
        agent.close();
        assertThatThrownBy(() -> kubelet.preStart(MAIN)).hasMessageContaining("does not answer");
        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        kubelet.preStart(MAIN);
        assertThat(agent.claims).hasSize(1);
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "the state of the device plugin")
    @Test
    void shouldSurviveADamagedFile() throws Exception {
        kubelet.admit(MAIN, both(4, 10));
        kubelet.preStart(MAIN);
        try (Stream<Path> files = Files.list(folder.resolve("state/units"))) {
            Files.writeString(files.findFirst().orElseThrow(), "{\"id\":");
        }
        restart();
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("is damaged").contains("delete its pod");
        assertThatThrownBy(() -> kubelet.preStart(MAIN)).hasMessageContaining("delete the pod");
        await(() -> agent.claims.isEmpty());
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "the device plugin, by 1,000 allocations")
    @Test
    @Timeout(300)
    void shouldServeAThousandAllocations() {
        List<Long> nanos = new ArrayList<>();
        for (int number = 0; number < 1000; number++) {
            String container = "team/pod-" + number + "/main";
            long began = System.nanoTime();
            kubelet.admit(container, both(4, 6));
            kubelet.preStart(container);
            nanos.add(System.nanoTime() - began);
            if (number >= 20) {
                kubelet.end("team/pod-" + (number - 20) + "/main");
            }
        }
        nanos.sort(null);
        System.out.printf("device plugin: admission and start of a container: median %.1f ms, p99 %.1f ms%n", nanos.get(500) / 1e6, nanos.get(990) / 1e6);
        List<String> bodies = List.copyOf(agent.claims.values()); // the program withdraws those of ended containers at any time
        assertThat(bodies.stream().map(body -> body.replaceAll("(?s).*\"token\":\"([^\"]*)\".*", "$1")).distinct()).hasSize(bodies.size());
        kubelet.preStart("team/pod-999/main");
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "requests to a device plugin")
    @Test
    void shouldSurviveHostileBytes() {
        Random random = new Random(3);
        List<String> methods = List.of("Allocate", "GetPreferredAllocation", "PreStartContainer", "GetDevicePluginOptions");
        for (int number = 0; number < 200; number++) {
            byte[] noise = new byte[random.nextInt(2000)];
            random.nextBytes(noise);
            MethodDescriptor<byte[], byte[]> method = MethodDescriptor.<byte[], byte[]>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
                    .setFullMethodName("v1beta1.DevicePlugin/" + methods.get(number % 4)).setRequestMarshaller(new Bytes()).setResponseMarshaller(new Bytes()).build();
            try {
                ClientCalls.blockingUnaryCall(kubelet.channel(MEMORY), method, CallOptions.DEFAULT.withDeadlineAfter(20, java.util.concurrent.TimeUnit.SECONDS), noise);
            } catch (StatusRuntimeException e) {
                assertThat(e.getStatus().getCode()).isNotEqualTo(io.grpc.Status.Code.DEADLINE_EXCEEDED);
            }
        }
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("GPU-0000_" + "9".repeat(3000)))).hasMessageContaining("is no unit of a GPU");
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, List.of("x".repeat(3 << 20)))).isInstanceOf(StatusRuntimeException.class);
        assertThat(kubelet.prefer(MEMORY, Integer.MAX_VALUE)).isEmpty();
        assertThat(kubelet.prefer(MEMORY, -5)).isEmpty();
        kubelet.admit(MAIN, both(4, 10));
        kubelet.preStart(MAIN);
        assertThat(agent.claims).hasSize(1);
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void shouldGiveAlnairsContainersWhatAlnairGave() throws Exception {
        withAlnair("--alnair-socket", "/run/alnair/alnair.sock");
        cluster.put("/api/v1/namespaces/team/pods/train", "{}");
        assertThat(kubelet.list(ALNAIR_MEMORY)).hasSize(30).containsKey("GPU-0001_14");

        Map<String, Integer> wanted = new LinkedHashMap<>();
        wanted.put(ALNAIR_MEMORY, 3);
        wanted.put(ALNAIR_COMPUTE, 40);
        Map<String, ContainerAllocateResponse> given = kubelet.admit(MAIN, wanted);
        kubelet.preStart(MAIN);

        ContainerAllocateResponse memory = given.get(ALNAIR_MEMORY);
        String id = memory.getEnvsOrThrow("ALNAIR_ID");
        Path workspace = folder.resolve("workspaces").resolve(id);
        assertThat(memory.getEnvsMap()).containsEntry("ALNAIR_WORKSPACE_PATH", "/var/lib/alnair/workspace").containsEntry("ALNAIR_SOCKET", "/run/alnair/alnair.sock")
                .containsEntry("LD_PRELOAD", "/opt/alnair/libcuinterpose.so").containsKey("SLUICE_LABEL");
        assertThat(memory.getEnvsOrThrow("NVIDIA_VISIBLE_DEVICES")).startsWith("GPU-000");
        assertThat(given.get(ALNAIR_COMPUTE).getEnvsMap()).containsExactly(Map.entry("ALNAIR_VGPU_COMPUTE_PERCENTILE", "40"));
        assertThat(memory.getMountsList()).anyMatch(mount -> mount.getHostPath().equals(workspace.toString()) && mount.getContainerPath().equals("/var/lib/alnair/workspace") && !mount.getReadOnly())
                .anyMatch(mount -> mount.getContainerPath().equals("/opt/alnair/libcuinterpose.so") && mount.getReadOnly());
        assertThat(workspace.resolve("limits")).hasContent("vmem:" + (3L << 30));
        assertThat(workspace.resolve("podInfo")).hasContent("podName:train\nnamespace:team");
        assertThat(onlyClaim().at("limits").at("compute").text()).isEqualTo("40%");
        await(() -> cluster.get("/api/v1/namespaces/team/pods/train").at("metadata").at("annotations").has("ai.centaurus.io/alnair-id"));
        assertThat(cluster.get("/api/v1/namespaces/team/pods/train").at("metadata").at("annotations").at("ai.centaurus.io/alnair-id").text()).isEqualTo(id);
        await(() -> cluster.get("/api/v1/nodes/node-1").at("metadata").at("annotations").has("ai.centaurus.io/vitual-gpu-count"));
        assertThat(cluster.get("/api/v1/nodes/node-1").at("metadata").at("annotations").at("ai.centaurus.io/virtual-gpu-count").text()).isEqualTo("15,15");
    }

    @Test
    void shouldLetEachUserUseItsWorkspaceAndNobodyReplaceItsLimits() throws Exception {
        withAlnair();
        String id = kubelet.admit(MAIN, Map.of(ALNAIR_MEMORY, 1)).get(ALNAIR_MEMORY).getEnvsOrThrow("ALNAIR_ID");
        Path workspace = folder.resolve("workspaces").resolve(id);

        assertThat((int) Files.getAttribute(workspace, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777).as("all may write, only owners may delete").isEqualTo(01777);
        assertThat((int) Files.getAttribute(workspace.resolve("limits"), "unix:mode") & 0777).isEqualTo(0644);
        assertThat((int) Files.getAttribute(workspace.getParent(), "unix:mode") & 0777).isEqualTo(0711);
        assertThat(id).matches("[a-z0-9]{16}");
    }

    @Test
    void shouldCountMemoryOfBothFamiliesOnce() throws Exception {
        withAlnair();
        kubelet.admit(MAIN, Map.of(ALNAIR_MEMORY, 10));
        kubelet.preStart(MAIN);
        await(() -> kubelet.healthy(MEMORY) == 124 - 40);

        kubelet.admit("team/other/main", Map.of(MEMORY, 62));
        kubelet.preStart("team/other/main");
        await(() -> kubelet.healthy(ALNAIR_MEMORY) == 15);
        String full = gpus(kubelet.prefer(ALNAIR_MEMORY, 1)).getFirst();
        assertThatThrownBy(() -> kubelet.allocate(MEMORY, Stream.iterate(0, at -> at + 1).limit(40).map(at -> full + "_" + at).toList())).hasMessageContaining("has no room");
    }

    @Test
    void shouldRefuseAlnairWithoutTheDevicePlugin() {
        assertThatThrownBy(() -> NodeSettings.parse(List.of("--node", "n", "--alnair", "on"), Map.of())).hasMessageContaining("--device-plugin on");
        assertThatThrownBy(() -> NodeSettings.parse(List.of("--node", "n", "--device-plugin", "yes"), Map.of()).isDevicePlugin()).hasMessageContaining("write on or off");
    }
}
