package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.json.TenantJson;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.cli.output.Json;
import sluice.cli.output.JsonValues;
import sluice.region.Tenant;

class JsonTest {
    private static List<String> values(Tenant tenant, OnBoards boards) {
        return JsonValues.of(out -> Json.write(out, json -> TenantJson.write(json, tenant, EarlierLook.NONE, boards)));
    }

    private static List<String> values(List<Tenant> tenants) {
        return JsonValues.of(out -> Json.write(out, json -> TenantJson.write(json, tenants, EarlierLook.NONE, OnBoards.NONE)));
    }

    @Test
    void shouldWriteATenant() {
        assertThat(values(MadeUp.training(), OnBoards.NONE)).contains(
                "/tenant=train", "/running=true", "/memoryLimitBytes/1=8589934592", "/gpus/0/usedBytes=4089446400",
                "/gpus/1/gpu=1", "/processes/0/pid=4711", "/processes/1/alive=false",
                "/processes/0/accounts/0/chargedBytes=3984588800",
                "/processes/0/accounts/0/uses/poolBytes=67108864", "/gpus/0/uses/contextBytes=134217728", "/onOom=fail", "/errors/0/count=12");
    }

    @Test
    void shouldLeaveOutGpuTimeThatIsNotMeasured() {
        assertThat(values(MadeUp.training(), OnBoards.NONE)).contains("/gpus/0/time/usedNanos=17000000000", "/gpus/0/time/submittedCalls=12345")
                .noneMatch(value -> value.matches("/gpus/1/time/(usedNanos|sinceNanos|submittedCalls|unmeteredCalls)=.*"));
    }

    @Test
    void shouldWriteAListOfTenants() {
        assertThat(values(List.of(MadeUp.training(), MadeUp.idle())))
                .contains("/tenants/0/tenant=train", "/tenants/1/tenant=shell")
                .anyMatch(value -> value.startsWith("/tenants/1/command=bash\033[31m"));
        assertThat(values(List.of())).isEmpty();
    }

    @Test
    void shouldWriteWhatWasAskedAndGotOfGpuTime() {
        assertThat(values(MadeUp.training(), MadeUp.board())).contains(
                "/compute/capPermille/0=250", "/compute/turns=false", "/gpus/0/time/capPermille=250", "/gpus/0/time/gotPermille=283",
                "/gpus/0/time/gotOverNanos=60000000000", "/gpus/0/time/repayNanos=8000000000", "/gpus/0/time/debtNanos=2000000000",
                "/gpus/1/time/gotPermille=-1").noneMatch(value -> value.startsWith("/gpus/0/turns"));
        assertThat(values(MadeUp.sharing(), MadeUp.board())).contains(
                "/compute/weight=3", "/compute/priority=high", "/compute/turnMicros=5000", "/gpus/0/turns/planNanos=15000000",
                "/gpus/0/turns/waitingNanos=3000000", "/gpus/0/turns/holds=false");
    }
}
