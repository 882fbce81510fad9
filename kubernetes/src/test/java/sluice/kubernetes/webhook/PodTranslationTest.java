package sluice.kubernetes.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.JsonObject;

/// Pods of HAMi and Alnair, and the patches that make them Sluice's.
class PodTranslationTest {
    private static final List<Long> SIZES = List.of(16508780544L, 147102629888L);

    private static JsonTree json(String text) {
        return JsonTree.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    private static JsonTree pod(String limits) {
        return json("{'metadata': {}, 'spec': {'containers': [{'name': 'main', 'resources': {'limits': {" + limits + "}, 'requests': {" + limits + "}}}]}}");
    }

    private static PodTranslation translate(JsonTree pod) {
        return PodTranslation.of(pod, false, () -> SIZES);
    }

    private static JsonTree request(PodTranslation translation) {
        assertThat(translation.templates()).hasSize(1);
        return JsonTree.parse(JsonObject.bytes(translation.templates().iterator().next().spec())).at("devices").at("requests").elements().getFirst();
    }

    private static JsonTree amounts(String limits) {
        return request(translate(pod(limits))).at("exactly").at("capacity").at("requests");
    }

    @Test
    void shouldTranslateHamisMemoryAndCores() {
        PodTranslation translation = translate(pod("'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '3000', 'nvidia.com/gpucores': '30', 'cpu': '2'"));

        JsonTree exactly = request(translation).at("exactly");
        assertThat(exactly.at("deviceClassName").text()).isEqualTo("sluice-gpu");
        assertThat(exactly.at("count").number()).isEqualTo(1);
        assertThat(exactly.at("capacity").at("requests").at("memory").text()).isEqualTo(Long.toString(3000L << 20));
        assertThat(exactly.at("capacity").at("requests").at("compute").text()).isEqualTo("30");
        String template = translation.templates().iterator().next().name();
        JsonTree patched = Patched.of(pod("'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '3000', 'nvidia.com/gpucores': '30', 'cpu': '2'"), translation.operations());
        assertThat(patched).isEqualTo(json("{'metadata': {}, 'spec': {'containers': [{'name': 'main', 'resources': {'limits': {'cpu': '2'}, 'requests': {'cpu': '2'}, 'claims': [{'name': 'sluice-0'}]}}],"
                + " 'resourceClaims': [{'name': 'sluice-0', 'resourceClaimTemplateName': '" + template + "'}]}}"));
    }

    @Test
    void shouldChangeNothingTheSecondTime() {
        JsonTree pod = pod("'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '3000'");
        JsonTree patched = Patched.of(pod, translate(pod).operations());

        assertThat(translate(patched).operations()).isEmpty();
        assertThat(PodTranslation.of(patched, true, () -> SIZES).operations()).isEmpty();
        assertThat(translate(pod)).as("the same ask has the same template").isEqualTo(translate(pod));
    }

    @Test
    void shouldLeaveNvidiasPodsAlone() {
        JsonTree plain = pod("'nvidia.com/gpu': '1'");

        assertThat(translate(plain).operations()).isEmpty();
        assertThat(PodTranslation.of(plain, true, () -> SIZES).templates()).hasSize(1);
        assertThat(PodTranslation.of(pod("'cpu': '1'"), true, () -> SIZES).operations()).isEmpty();
        assertThat(PodTranslation.of(pod("'nvidia.com/gpu': '0'"), true, () -> SIZES).operations()).isEmpty();
    }

    @Test
    void shouldGiveAWholeGpuWhereNoMemoryIsNamed() {
        JsonTree exactly = request(translate(pod("'nvidia.com/gpu': '1', 'nvidia.com/gpucores': '50'"))).at("exactly");
        assertThat(exactly.at("capacity").at("requests").has("memory")).isFalse();
        assertThat(exactly.at("capacity").at("requests").at("compute").text()).isEqualTo("50");
    }

    @Test
    void shouldAskForDifferentGpusWhereSeveralAreNamed() {
        PodTranslation translation = translate(pod("'nvidia.com/gpu': '2', 'nvidia.com/gpumem': '1024'"));
        JsonTree devices = JsonTree.parse(JsonObject.bytes(translation.templates().iterator().next().spec())).at("devices");

        assertThat(request(translation).at("exactly").at("count").number()).isEqualTo(2);
        assertThat(devices.at("constraints").elements().getFirst().at("distinctAttribute").text()).isEqualTo("gpu.sluice.dev/uuid");
    }

    @Test
    void shouldTakeAPercentageOfEachSizeOfGpu() {
        List<JsonTree> alternatives = request(translate(pod("'nvidia.com/gpu': '1', 'nvidia.com/gpumem-percentage': '50'"))).at("firstAvailable").elements();

        assertThat(alternatives).hasSize(2);
        assertThat(alternatives.getFirst().at("selectors").elements().getFirst().at("cel").at("expression").text()).contains("quantity('16508780544')");
        long bytes = Long.parseLong(alternatives.getFirst().at("capacity").at("requests").at("memory").text());
        assertThat(bytes).as("a multiple of 64 MiB").isEqualTo(16508780544L / 2);
        assertThat(request(translate(pod("'nvidia.com/gpu': '1', 'nvidia.com/gpumem-percentage': '100'"))).has("exactly")).isTrue();
        assertThatThrownBy(() -> PodTranslation.of(pod("'nvidia.com/gpumem-percentage': '50'"), false, List::of)).hasMessageContaining("there are 0");
    }

    @Test
    void shouldTranslateAlnairsUnits() {
        JsonTree amounts = amounts("'alnair/vgpu-memory': '4', 'alnair/vgpu-compute': '20'");
        assertThat(amounts.at("memory").text()).isEqualTo(Long.toString(4L << 30));
        assertThat(amounts.at("compute").text()).isEqualTo("20");
        assertThat(amounts("'alnair/vgpu-memory': '4', 'alnair/vgpu-compute': '300'").at("compute").text()).as("as Alnair").isEqualTo("100");
        assertThatThrownBy(() -> translate(pod("'alnair/vgpu-compute': '20'"))).hasMessageContaining("spec.containers.0: alnair/vgpu-compute needs alnair/vgpu-memory");
        assertThatThrownBy(() -> translate(pod("'alnair/vgpu-memory': '4', 'nvidia.com/gpu': '1'"))).hasMessageContaining("both HAMi and Alnair");
    }

    @Test
    void shouldReadQuantitiesAsKubernetesDoes() {
        assertThat(amounts("'nvidia.com/gpumem': '1e3'").at("memory").text()).isEqualTo(Long.toString(1000L << 20));
        assertThat(amounts("'nvidia.com/gpumem': '2k'").at("memory").text()).isEqualTo(Long.toString(2000L << 20));
        assertThat(amounts("'nvidia.com/gpumem': '3000000m'").at("memory").text()).isEqualTo(Long.toString(3000L << 20));
        assertThat(amounts("'nvidia.com/gpumem': 512").at("memory").text()).isEqualTo(Long.toString(512L << 20));
        for (String wrong : List.of("'0.5'", "'-1'", "'1500m'", "'NaN'", "'Infinity'", "'1e99'", "''", "'4Gi'", "'9223372036854775807'", "0.5", "1e400", "true", "null", "{}", "[1]", "'1 '")) {
            String limits = "'nvidia.com/gpumem': " + wrong;
            if (wrong.equals("null")) {
                assertThat(translate(pod(limits)).operations()).isEmpty();
            } else {
                assertThatThrownBy(() -> translate(pod(limits))).as(wrong).hasMessageContaining("spec.containers.0: nvidia.com/gpumem");
            }
        }
        assertThatThrownBy(() -> translate(pod("'nvidia.com/gpucores': '101'"))).hasMessageContaining("at most 100");
        assertThatThrownBy(() -> translate(pod("'nvidia.com/gpu': '0', 'nvidia.com/gpumem': '5'"))).hasMessageContaining("is 0");
        assertThatThrownBy(() -> translate(json("{'spec': {'containers': [{'resources': {'limits': {'nvidia.com/gpumem': '1'}, 'requests': {'nvidia.com/gpumem': '2'}}}]}}")))
                .hasMessageContaining("another limit than request");
    }

    @Test
    void shouldGiveEachContainerAClaimAndInitContainersNoMore() {
        String one = "{'resources': {'limits': {'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '100'}}}";
        String other = "{'resources': {'limits': {'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '200'}}}";
        String sidecar = one.replace("{'resources'", "{'restartPolicy': 'Always', 'resources'");
        PodTranslation translation = translate(json("{'spec': {'containers': [" + one + "," + one + ", {}], 'initContainers': [" + one + "," + other + "," + sidecar + "," + other + "],"
                + " 'resourceClaims': [{'name': 'sluice-1'}]}}"));

        JsonTree patched = Patched.of(json("{'spec': {'containers': [" + one + "," + one + ", {}], 'initContainers': [" + one + "," + other + "," + sidecar + "," + other + "],"
                + " 'resourceClaims': [{'name': 'sluice-1'}]}}"), translation.operations());
        List<String> names = patched.at("spec").at("containers").elements().stream().filter(each -> each.has("resources")).map(PodTranslationTest::claim).toList();
        List<String> inits = patched.at("spec").at("initContainers").elements().stream().map(PodTranslationTest::claim).toList();
        assertThat(names).containsExactly("sluice-0", "sluice-2");
        assertThat(inits).containsExactly("sluice-0", "sluice-3", "sluice-4", "sluice-3");
        assertThat(patched.at("spec").at("resourceClaims").elements()).hasSize(5);
        assertThat(translation.templates()).hasSize(2);
    }

    private static String claim(JsonTree container) {
        return container.at("resources").at("claims").elements().getFirst().at("name").text();
    }

    @Test
    void shouldKeepTheSchedulerOfTheCluster() {
        JsonTree pod = json("{'spec': {'schedulerName': 'alnair-cost-saving', 'containers': [{'resources': {'limits': {'alnair/vgpu-memory': '1'}}}]}}");
        assertThat(Patched.of(pod, translate(pod).operations()).at("spec").at("schedulerName").text()).isEqualTo("default-scheduler");
        JsonTree own = json("{'spec': {'schedulerName': 'mine', 'containers': [{'resources': {'limits': {'alnair/vgpu-memory': '1'}}}]}}");
        assertThat(Patched.of(own, translate(own).operations()).at("spec").at("schedulerName").text()).isEqualTo("mine");
    }

    @Test
    void shouldChooseGpusByHamisAnnotations() {
        String text = "{'metadata': {'annotations': {'nvidia.com/use-gputype': 'A100, H200', 'nvidia.com/nouse-gpuuuid': '%s'}},"
                + " 'spec': {'containers': [{'resources': {'limits': {'nvidia.com/gpumem': '1'}}}]}}";
        List<String> conditions = request(translate(json(text.formatted("GPU-1")))).at("exactly").at("selectors").elements().stream().map(each -> each.at("cel").at("expression").text()).toList();
        assertThat(conditions).containsExactly("['a100', 'h200'].exists(m, device.attributes['gpu.sluice.dev'].model.lowerAscii().contains(m))",
                "!(device.attributes['gpu.sluice.dev'].uuid in ['GPU-1'])");
        for (String hostile : List.of("x'] || true || ['", "a\\\\b", "${x}", "ü", "x".repeat(100))) {
            JsonTree pod = JsonTree.parse(text.replace('\'', '"').formatted(hostile).getBytes(StandardCharsets.UTF_8));
            assertThatThrownBy(() -> translate(pod)).as(hostile).hasMessageContaining("nvidia.com/nouse-gpuuuid is no list");
        }
    }

    @Test
    void shouldTranslateHamisPriority() {
        PodTranslation high = translate(pod("'nvidia.com/gpumem': '1', 'nvidia.com/priority': '0'"));
        assertThat(JsonTree.parse(JsonObject.bytes(high.templates().iterator().next().spec())).at("devices").at("config").elements().getFirst().at("opaque").at("parameters"))
                .isEqualTo(new JsonTree(Map.of("apiVersion", "sluice.dev/v1alpha1", "kind", "GpuParameters", "priority", "high")));
    }
}
