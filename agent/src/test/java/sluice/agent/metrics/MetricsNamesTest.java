package sluice.agent.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.agent.history.HistoryPart;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;
import sluice.api.model.AuditFinding;
import sluice.api.model.NodeClaim;

/// What a scrape has is what the tables say, name by name and label by label.
@Timeout(60)
class MetricsNamesTest {
    /// Only a machine with NVML has these.
    private static final Set<String> BY_NVML = Set.of("sluice_gpu_utilization_ratio", "sluice_gpu_temperature_celsius",
            "hami_host_gpu_utilization_ratio", "HostCoreUtilization");

    @TempDir
    private Path folder;

    /// Stands for the audit and for the claims of a cluster.
    private record OneFinding(NodeClaim claim) implements Part {
        @Override
        public void start(AgentContext context) {
            context.machine().claims(tenant -> Optional.of(claim));
            context.machine().findings(() -> List.of(new AuditFinding("unknown", 7, 0, MetricsTenants.UUID, "miner", "", "", 5000, 1000, Instant.now(), "reported")));
        }
    }

    @Test
    void shouldHaveAllNamesAndLabelsOfTheTables() throws Exception {
        NodeClaim claim = new NodeClaim("id", List.of(), Map.of(), "ml", "gpu-claim", "train-0", "main");
        try (RunningAgent agent = new RunningAgent(folder, List.of(new Metrics(), new OneFinding(claim)), "metrics-also = hami, alnair")) {
            Path region = MetricsTenants.busy(agent.directory(), "train", 1);
            MetricsTenants.onBoard(agent.directory(), region);
            agent.client().get("/v1/machine");
            agent.client().get("/metrics");
            MetricsTenants.count(region, segment -> MetricsTenants.call(segment, "cuLaunchKernel", 1001, 1));
            Thread.sleep(1200);
            agent.client().get("/v1/machine");

            MetricsText page = MetricsText.parse(agent.client().get("/metrics").text());

            Map<String, MetricsFamily> families = families();
            Set<String> missing = new TreeSet<>(families.keySet());
            missing.removeAll(page.names());
            assertThat(missing).isSubsetOf(BY_NVML);
            assertThat(page.series()).allSatisfy(series -> {
                assertThat(families).containsKey(series.name());
                assertThat(series.labels().keySet()).as(series.name()).containsExactlyInAnyOrderElementsOf(families.get(series.name()).labels());
            });
            assertThat(page.value("sluice_tenant_memory_used_bytes", "namespace", "ml", "pod", "train-0", "container", "main", "claim", "gpu-claim")).isPositive();
            assertThat(page.value("sluice_audit_findings", "gpu_uuid", MetricsTenants.UUID, "kind", "unknown")).isEqualTo(1);
            assertThat(page.value("sluice_audit_unbooked_bytes", "gpu", "0", "kind", "unknown")).isEqualTo(4000);
        }
    }

    private static Map<String, MetricsFamily> families() {
        return Stream.of(Metrics.own(new MetricsOfAgent()), List.of(new MetricsOfParts(new HistoryPart().metrics()), Metrics.other("hami", ""), Metrics.other("alnair", "")))
                .flatMap(List::stream).flatMap(source -> source.families().stream())
                .collect(Collectors.toMap(MetricsFamily::name, Function.identity()));
    }
}
