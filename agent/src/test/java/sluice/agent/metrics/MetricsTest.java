package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static sluice.agent.metrics.MetricsTenants.UUID;

import java.io.IOException;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.FreePort;
import sluice.agent.RunningAgent;
import sluice.api.client.AgentClient;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.layout.CallView;
import sluice.region.layout.GpuView;
import sluice.region.layout.TrafficView;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;

/// Scrapes of an agent by its sockets, as Prometheus makes them.
@Timeout(60)
class MetricsTest {
    private static final String OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

    @TempDir
    private Path folder;

    private RunningAgent agent;

    private void start(String... lines) throws IOException {
        agent = new RunningAgent(folder, List.of(new Metrics()), lines);
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    /// Of how things are now: a scrape is content with a look that is a second old.
    private MetricsText scrape() {
        agent.client().get("/v1/machine");
        AgentClient.Response response = agent.client().get("/metrics");
        assertThat(response.status()).as(response.text()).isEqualTo(200);
        assertThat(response.head()).contains("content-type: text/plain; version=0.0.4");
        return MetricsText.parse(response.text());
    }

    /// Waits until the agent's clock made it look later than that. @return when
    private double awaitLook(double after) throws InterruptedException {
        double last = scrape().value("sluice_agent_last_look_timestamp_seconds");
        while (last <= after) {
            Thread.sleep(50);
            last = scrape().value("sluice_agent_last_look_timestamp_seconds");
        }
        return last;
    }

    @Test
    void shouldTellOfMemoryAndTime() throws Exception {
        start();
        Path train = MetricsTenants.busy(agent.directory(), "train", 3);
        MetricsTenants.onBoard(agent.directory(), train, MetricsTenants.busy(agent.directory(), "serve", 1));

        MetricsText page = scrape();

        String[] labels = {"gpu_uuid", UUID, "gpu", "0", "tenant", "train"};
        assertThat(page.value("sluice_tenant_memory_used_bytes", labels)).isEqualTo(256 << 20);
        assertThat(page.value("sluice_tenant_memory_limit_bytes", labels)).isEqualTo(4L << 30);
        assertThat(page.value("sluice_tenant_memory_peak_bytes", labels)).isEqualTo(300 << 20);
        assertThat(page.value("sluice_tenant_memory_refused_total", labels)).isEqualTo(3);
        assertThat(page.value("sluice_tenant_memory_use_bytes", "tenant", "train", "use", "context")).isEqualTo(64 << 20);
        assertThat(page.value("sluice_tenant_gpu_time_seconds_total", labels)).isEqualTo(2.5);
        assertThat(page.value("sluice_tenant_gpu_wait_seconds_total", "tenant", "train", "reason", "cap")).isEqualTo(1.5);
        assertThat(page.value("sluice_tenant_gpu_waits_total", "tenant", "train", "reason", "turn")).isEqualTo(6);
        assertThat(page.value("sluice_tenant_gpu_share_asked_ratio", labels)).isEqualTo(0.5);
        assertThat(page.value("sluice_tenant_gpu_share_asked_ratio", "tenant", "serve")).isEqualTo(0.25);
        assertThat(page.value("sluice_tenant_turns_total", labels)).isEqualTo(12);
        assertThat(page.value("sluice_gpu_memory_total_bytes", "gpu_uuid", UUID)).isEqualTo(80L << 30);
        assertThat(page.value("sluice_board_tenants", "gpu_uuid", UUID, "gpu", "0")).isEqualTo(2);
    }

    @Test
    void shouldTellOfCallsAndCopies() throws Exception {
        start();
        MetricsTenants.busy(agent.directory(), "train", 1);

        MetricsText page = scrape();

        assertThat(page.value("sluice_tenant_calls_total", "tenant", "train", "kind", "kernel")).isEqualTo(1000);
        assertThat(page.value("sluice_tenant_call_errors_total", "tenant", "train")).isEqualTo(3);
        assertThat(page.value("sluice_tenant_call_seconds_total", "tenant", "train", "kind", "kernel")).isEqualTo(1);
        assertThat(page.value("sluice_tenant_copied_bytes_total", "tenant", "train", "direction", "to_gpu")).isEqualTo(11 << 20);
        assertThat(page.value("sluice_tenant_processes", "tenant", "train")).isEqualTo(4);
        assertThat(page.value("sluice_tenant_info", "tenant", "train", "priority", "high")).isEqualTo(1);
    }

    @Test
    void shouldTellWhatATenantGotOfLate() throws Exception {
        start();
        Path file = MetricsTenants.busy(agent.directory(), "train", 1);
        scrape();
        try (Region region = Region.openReadWrite(file)) {
            for (int step = 0; step < 12; step++) {
                Thread.sleep(100);
                region.share(0).addUsedNanos(40_000_000);
            }
        }

        assertThat(scrape().value("sluice_tenant_gpu_share_got_ratio", "tenant", "train")).isBetween(0.2, 0.5);
    }

    @Test
    void shouldTellHowTheAgentIs() throws Exception {
        start();
        scrape();

        MetricsText page = scrape();

        assertThat(page.value("sluice_agent_scrapes_total")).isEqualTo(1);
        assertThat(page.value("sluice_agent_scrape_seconds_total")).isPositive();
        assertThat(page.value("sluice_agent_last_look_timestamp_seconds")).isGreaterThan(System.currentTimeMillis() / 1e3 - 60);
        assertThat(page.value("process_resident_memory_bytes")).isGreaterThan(1 << 20);
        assertThat(page.value("process_start_time_seconds")).isPositive();
    }

    @Test
    void shouldSpeakOpenMetrics() throws Exception {
        start();
        MetricsTenants.busy(agent.directory(), "train", 1);

        agent.client().get("/v1/machine");
        String answer = ask("/metrics", "Accept: " + OPEN_METRICS + "\r\n");

        assertThat(answer).startsWith("HTTP/1.1 200 ").contains("content-type: application/openmetrics-text; version=1.0.0").endsWith("# EOF\n");
        MetricsText page = MetricsText.parse(answer.substring(answer.indexOf("\r\n\r\n") + 4));
        assertThat(page.types()).containsEntry("sluice_tenant_calls", "counter").containsEntry("sluice_tenant_memory_used_bytes", "gauge");
        assertThat(page.value("sluice_tenant_memory_used_bytes", "tenant", "train")).isEqualTo(256 << 20);
    }

    @Test
    void shouldAnswerOnThePort() throws Exception {
        int port = FreePort.choose();
        start("port = " + port);
        MetricsTenants.busy(agent.directory(), "train", 1);
        agent.client().get("/v1/machine");
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write(("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).startsWith("HTTP/1.1 200 ").contains("tenant=\"train\"");
        }
    }

    @Test
    void shouldHaveTheNamesOfOthersOnlyWhenAsked() throws Exception {
        start();
        MetricsTenants.busy(agent.directory(), "train", 1);

        assertThat(scrape().names()).allMatch(name -> name.startsWith("sluice_") || name.startsWith("process_"));
    }

    @Test
    void shouldHaveTheNamesOfHamiAndAlnair() throws Exception {
        start("metrics-also = hami, alnair", "metrics-node = worker-1");
        MetricsTenants.busy(agent.directory(), "train", 1);

        MetricsText page = scrape();

        assertThat(page.value("hami_vgpu_memory_used_bytes", "pod", "train", "vdevice_index", "0", "device_uuid", UUID)).isEqualTo(256 << 20);
        assertThat(page.value("hami_vgpu_memory_buffer_bytes", "pod", "train")).isEqualTo(192 << 20);
        assertThat(page.value("vGPU_device_memory_limit_in_bytes", "podname", "train")).isEqualTo(4L << 30);
        assertThat(page.value("HostGPUMemoryUsage", "nodeid", "worker-1", "deviceuuid", UUID)).isEqualTo(256 << 20);
        assertThat(page.value("alnair_cuda_launch_kernel_cnt", "nodeName", "worker-1", "pod_name", "train")).isEqualTo(999);
        assertThat(page.value("alnair_cuda_available_token", "pid", Long.toString(ProcessHandle.current().pid()))).isBetween(0.0, 15e6);
        assertThat(page.value("alnair_gpu_mem_used", "gpu_idx", "0")).isEqualTo(256 << 20);
    }

    @Test
    void shouldTellHowLongAgoTheLastKernelWas() throws Exception {
        start("metrics-also = hami");
        Path file = MetricsTenants.busy(agent.directory(), "train", 1);

        assertThat(scrape().all("hami_container_last_kernel_elapsed_seconds")).as("nobody saw it launch").isEmpty();
        assertThat(scrape().all("hami_container_last_kernel_elapsed_seconds")).as("nothing was launched").isEmpty();
        MetricsTenants.count(file, segment -> MetricsTenants.call(segment, "cuLaunchKernel", 1001, 1));
        assertThat(scrape().value("hami_container_last_kernel_elapsed_seconds", "pod", "train", "device_uuid", UUID)).isZero();
        Thread.sleep(50);
        MetricsText later = scrape();
        assertThat(later.value("hami_container_last_kernel_elapsed_seconds", "pod", "train")).isBetween(0.05, 100.0);
        assertThat(later.value("Device_last_kernel_of_container", "podname", "train")).isBetween(0.05, 100.0);
    }

    @Test
    void shouldBoundHowManyTenantsItTellsOf() throws Exception {
        start("metrics-tenants = 3");
        for (int number = 0; number < 5; number++) {
            MetricsTenants.busy(agent.directory(), "tenant-" + number, 1);
        }

        MetricsText page = scrape();

        assertThat(page.all("sluice_tenant_running")).extracting(series -> series.labels().get("tenant"))
                .containsExactlyInAnyOrder("tenant-0", "tenant-1", "tenant-2");
        assertThat(page.value("sluice_agent_tenants_left_out")).isEqualTo(2);
    }

    @Test
    void shouldForgetTenantsThatEndedBeforeTheLook() throws Exception {
        start();
        double first = awaitLook(0);
        Region.create(agent.directory(), new RegionDraft("ended", "", new Identity(1L << 22 | 4_000_000), OnError.FAIL, MemoryLimits.none()));
        awaitLook(first);

        assertThat(scrape().value("sluice_tenant_running", "tenant", "ended")).isZero();
        agent.close();
        start();
        awaitLook(0);
        assertThat(scrape().all("sluice_tenant_running")).isEmpty();
    }

    @Test
    void shouldWriteAValidPageForAnyRegion() throws Exception {
        start();
        Path odd = MetricsTenants.busy(agent.directory(), "odd", 1);
        try (Region region = Region.openReadWrite(odd)) {
            region.share(0).usedNanos(Long.MIN_VALUE);
            GpuView twin = region.gpu(1);
            twin.uuid(new byte[16]);
            twin.name("\n\u0000\"");
            twin.owner(1);
            twin.refusedCalls(-1);
        }
        MetricsTenants.count(odd, segment -> {
            TrafficView.at(segment, 0).toGpuBytes(Long.MIN_VALUE);
            CallView.at(segment, 0).calls(5);
            CallView.at(segment, 0).failed(-7);
        });
        MetricsTenants.busy(agent.directory(), "honest", 1);

        MetricsText page = scrape();

        assertThat(page.value("sluice_tenant_gpu_time_seconds_total", "tenant", "odd")).isZero();
        assertThat(page.value("sluice_tenant_gpu_time_seconds_total", "tenant", "honest")).isEqualTo(2.5);
    }

    private String ask(String path, String headers) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(agent.socket()));
            channel.write(ByteBuffer.wrap(("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n").getBytes(StandardCharsets.US_ASCII)));
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
