package sluice.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import sluice.agent.json.EarlierLook;
import sluice.agent.json.OnBoards;
import sluice.agent.json.TenantJson;
import sluice.proof.Result;
import sluice.region.Tenant;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

class JsonTest {
    /// All values with their paths, as in `gpus/0/usedBytes=1`.
    private static List<String> values(Consumer<PrintWriter> writer) {
        StringWriter text = new StringWriter();
        writer.accept(new PrintWriter(text, true));
        assertThat(text.toString()).endsWith("}\n");
        List<String> values = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text.toString())) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token.isScalarValue()) {
                    values.add(parser.streamReadContext().pathAsPointer() + "=" + parser.getString());
                }
            }
        }
        return values;
    }

    private static List<String> values(Tenant tenant, OnBoards boards) {
        return values(out -> Json.write(out, json -> TenantJson.write(json, tenant, EarlierLook.NONE, boards)));
    }

    private static List<String> values(List<Tenant> tenants) {
        return values(out -> Json.write(out, json -> TenantJson.write(json, tenants, EarlierLook.NONE, OnBoards.NONE)));
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

    @Test
    void shouldWriteTheDoctorsFindings() {
        List<Finding> findings = List.of(Finding.ok("kernel", "fine"), Finding.fail("library", "it \"is\" gone", "build"));

        assertThat(values(out -> DoctorCommand.writeJson(out, findings)))
                .contains("/findings/0/level=ok", "/findings/1/level=fail", "/findings/1/text=it \"is\" gone", "/findings/1/advice=build");
    }

    @Test
    void shouldWriteResultsOfChecks() {
        List<Result> results = List.of(new Result("quota", "holds", Result.Outcome.PASSED, "1 GiB", Duration.ofMillis(12)));

        assertThat(values(out -> VerifyText.writeJson(out, true, results)))
                .contains("/simulated=true", "/checks/0/outcome=passed", "/checks/0/millis=12");
    }
}
