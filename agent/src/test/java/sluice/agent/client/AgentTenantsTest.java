package sluice.agent.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.agent.RunningAgent;
import sluice.agent.metrics.MetricsTenants;
import sluice.api.client.AgentTenants;
import sluice.api.json.JsonBytes;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.calls.TenantCalls;
import sluice.region.layout.CallTable;
import sluice.region.layout.CallView;
import sluice.region.limits.Limit;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// A client that knows of tenants only what the agent tells.
@Timeout(60)
class AgentTenantsTest {
    @TempDir
    private Path folder;

    private RunningAgent agent;
    private Tenant direct;

    @BeforeEach
    void start() throws Exception {
        agent = new RunningAgent(folder);
        direct = Tenant.read(agent.tenantOnGpu("train"));
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private AgentTenants tenants() {
        return AgentTenants.at(agent.socket(), List.of());
    }

    private static String json(Tenant tenant) {
        return new String(JsonBytes.of(json -> TenantJson.write(json, tenant, EarlierLook.NONE, OnBoards.NONE)));
    }

    @Test
    void shouldSeeWhatTheRegionSays() {
        Tenant told = tenants().look().getFirst();

        assertThat(json(told)).isEqualTo(json(direct));
        assertThat(told.root()).isEqualTo(direct.root());
    }

    @Test
    void shouldLeaveOutWhatTheClientCanRead() {
        assertThat(AgentTenants.at(agent.socket(), List.of(new RuntimeDirectory(direct.file().getParent()))).look()).isEmpty();
    }

    /// To find the agent is a look: `sluice ps` needs no other.
    @Test
    void shouldAskTheAgentThatWasFoundOnlyForFurtherLooks() {
        AgentTenants found = AgentTenants.find(List.of(new RuntimeDirectory(agent.socket().getParent()))).orElseThrow();
        agent.close();

        assertThat(found.look()).isEmpty();
        assertThatThrownBy(found::look).isInstanceOf(SluiceException.class).hasMessageContaining("does not answer");
    }

    @Test
    void shouldSetLimits() {
        AgentTenants tenants = tenants();
        Tenant after = tenants.set(tenants.look().getFirst(), new LimitsChange(Map.of(Limit.MEMORY, "0=6g", Limit.COMPUTE, "25%", Limit.EXCLUSIVE, "false")));

        assertThat(after.memory().bytes(0)).isEqualTo(6L << 30);
        assertThat(after.memory().bytes(1)).isEqualTo(4L << 30);
        assertThat(Tenant.read(direct.file()).compute().caps().permille(3)).isEqualTo(250);
    }

    @Test
    void shouldCountAsTheRegionDoes() throws Exception {
        MetricsTenants.count(direct.file(), segment -> {
            CallView call = CallView.at(segment, CallTable.NAMES.indexOf("cuMemAlloc_v2"));
            call.calls(7);
            call.failed(2);
            call.bytes(4096);
        });
        AgentTenants tenants = tenants();
        TenantCalls told = tenants.calls(tenants.look().getFirst());
        TenantCalls here = TenantCalls.read(direct.file());

        assertThat(told.counts()).isEqualTo(here.counts()).hasSize(1);
        assertThat(told.traffic()).isEqualTo(here.traffic());
        assertThat(told.known()).isTrue();
    }

    @Test
    void shouldPassOnWhyNot() throws Exception {
        AgentTenants tenants = tenants();
        Tenant gone = tenants.look().getFirst();
        Files.delete(direct.file());
        assertThatThrownBy(() -> tenants.set(gone, LimitsChange.of(Limit.MEMORY, "6g")))
                .isInstanceOf(SluiceException.class).hasMessageContaining("there is no tenant '" + gone.name() + "'");
    }
}
