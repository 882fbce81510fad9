package sluice.api.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.GpuTime;
import sluice.region.MemoryUses;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.TenantState;
import sluice.region.boards.BoardState;
import sluice.region.boards.BoardTenant;
import sluice.region.calls.CallCount;
import sluice.region.calls.CallKind;
import sluice.region.calls.TenantCalls;
import sluice.region.calls.Traffic;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.HostLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.pause.Command;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;
import tools.jackson.core.JsonGenerator;

/// Every number in a tenant here is another one, so that two properties that change places are seen.
class ModelJsonTest {
    private static final GpuTime TIME = new GpuTime(1000, 250, 400, 1300, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    private static final MemoryUses USES = new MemoryUses(41, 42, 43, 44, 45, 46, 47, 48);
    private static final Tenant TENANT = new Tenant(Path.of("/run/train.region"), "train", "python train.py", TenantState.RUNNING, Command.NONE, Identity.of(4711, 99), 51, 1000,
            52, new Limits(MemoryLimits.parse("0=4g,1=8g"), new ComputeLimits(ComputeCaps.parse("1=25%"), true, 3, Priority.HIGH, false, 54, true), new OnOom(53), OnError.RUN,
                    new HostLimits(true, 55, 56)),
            List.of(new TenantGpu(0, 5, "GPU-5", "five", 61, 62, 63, USES, 64, 65, 66, 67, TIME),
                    new TenantGpu(1, 6, "GPU-6", "six", 68, 69, 70, MemoryUses.NONE, 71, 72, 73, 74, new GpuTime(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            List.of(new TenantProcess(7, Identity.of(4712, 98), true, 81, 82, 83, List.of(new TenantProcess.Charge(0, 84, 85, USES, 86, 87)), ProcessPause.NONE, "python")),
            List.of(new TenantError("refused", 91, 92, 93, 94)));
    private static final OnBoards BOARDS = new OnBoards(List.of(new BoardState(Path.of("/run/5.board"), "GPU-5", 1000, 0, 0, 0, 0,
            List.of(new BoardTenant(2, TENANT.createdNanos(), "train", 3, Priority.HIGH, false, 54, 101, 102, 103, 104, true, true, 105, 106)))));

    private static String text(Consumer<JsonGenerator> content) {
        return new String(JsonBytes.of(content));
    }

    private static String text(Tenant tenant, OnBoards boards) {
        return text(json -> TenantJson.write(json, tenant, EarlierLook.NONE, boards));
    }

    private static JsonTree tree(String text) {
        return JsonTree.parse(text.getBytes());
    }

    @Test
    void shouldWriteATenantAsScriptsKnowIt() {
        assertThat(text(TENANT, BOARDS)).startsWith("{\"tenant\":\"train\",\"running\":true,\"state\":\"running\",\"command\":\"python train.py\",\"region\":\"/run/train.region\",\"layout\":")
                .contains("\"rootPid\":4711,\"rootStartTicks\":99,\"uid\":1000,\"onError\":\"run\",\"onOom\":\"wait\",\"oomWaitMillis\":53,\"limitsEpoch\":52,"
                        + "\"memoryLimitBytes\":[4294967296,8589934592,0,")
                .contains("\"turns\":true,\"weight\":3,\"priority\":\"high\",\"exclusive\":false,\"turnMicros\":54,\"strict\":true},\"host\":{\"mapped\":true,\"reservoirBytes\":55,\"preparedBytes\":56},\"gpus\":[{\"gpu\":5,\"uuid\":\"GPU-5\",\"name\":\"five\","
                        + "\"granularityBytes\":61,\"totalBytes\":62,\"usedBytes\":63,\"uses\":{\"linearBytes\":41,\"managedBytes\":42,\"poolBytes\":43,"
                        + "\"physicalBytes\":44,\"arrayBytes\":45,\"graphBytes\":46,\"contextBytes\":47,\"overheadBytes\":48},\"limitBytes\":64,\"peakBytes\":65,"
                        + "\"refusedCalls\":66,\"lastRefusedBytes\":67,\"time\":{\"capPermille\":250,\"gotPermille\":35,\"gotOverNanos\":600,\"usedNanos\":21,"
                        + "\"sinceNanos\":600,\"submittedCalls\":22,\"unmeteredCalls\":23,\"capWaits\":24,\"capWaitedNanos\":25,\"turnWaits\":26,"
                        + "\"turnWaitedNanos\":27,\"roomWaits\":28,\"roomWaitedNanos\":29,\"memoryWaits\":30,\"memoryWaitedNanos\":31,\"debtNanos\":75,"
                        + "\"repayNanos\":300},\"turns\":{\"lengthNanos\":101,\"planNanos\":101,\"turns\":104,\"heldNanos\":103,\"balanceNanos\":102,"
                        + "\"waitingNanos\":105,\"holds\":true,\"processes\":106}},")
                .endsWith("\"processes\":[{\"slot\":7,\"pid\":4712,\"startTicks\":98,\"alive\":true,\"attachedNanos\":81,\"calls\":82,\"passedCalls\":83,"
                        + "\"commandLine\":\"python\",\"accounts\":[{\"gpu\":5,\"chargedBytes\":84,\"inFlightBytes\":85,\"uses\":{\"linearBytes\":41,"
                        + "\"managedBytes\":42,\"poolBytes\":43,\"physicalBytes\":44,\"arrayBytes\":45,\"graphBytes\":46,\"contextBytes\":47,"
                        + "\"overheadBytes\":48},\"allocations\":86,\"allocationsTotal\":87}]}],"
                        + "\"errors\":[{\"text\":\"refused\",\"count\":91,\"firstNanos\":92,\"lastNanos\":93,\"pid\":94}]}");
    }

    @Test
    void shouldReadTheTenantThatItWrites() {
        String written = text(TENANT, BOARDS);
        Tenant read = TenantJson.read(tree(written));

        assertThat(text(read, new OnBoards(TenantJson.readBoards(tree(written))))).isEqualTo(written);
        assertThat(read.processes()).isEqualTo(TENANT.processes());
        assertThat(read.limits()).isEqualTo(TENANT.limits());
        assertThat(read.compute()).isEqualTo(TENANT.compute());
    }

    @Test
    void shouldTakeCapsOfAnEarlierVersionForNotStrict() {
        String earlier = text(TENANT, BOARDS).replace(",\"strict\":true", "");

        assertThat(TenantJson.read(tree(earlier)).compute().strict()).isFalse();
        assertThat(TenantJson.read(tree(earlier)).compute().turnMicros()).isEqualTo(54);
    }

    @Test
    void shouldTellWhyAStrictCapIsNone() {
        TenantProcess process = TENANT.processes().getFirst();
        Tenant off = new Tenant(TENANT.file(), TENANT.name(), TENANT.command(), TENANT.state(), TENANT.asked(), TENANT.root(), TENANT.createdNanos(), TENANT.uid(), TENANT.limitsEpoch(),
                TENANT.limits(), TENANT.gpus(), List.of(new TenantProcess(7, process.identity(), true, 81, 82, 83, process.charges(), ProcessPause.NONE,
                new TimeSlices(RegionLayout.SLICES_OFF, 0), "python")), TENANT.errors());
        String written = text(off, OnBoards.NONE);

        assertThat(written).contains("\"notStrict\":\"time slices are off: SLUICE_SLICES turns them off\"");
        assertThat(TenantJson.read(tree(written)).notStrict()).isEqualTo(off.notStrict()).isPresent();
        assertThat(text(TENANT, OnBoards.NONE)).as("not tried yet").doesNotContain("notStrict");
    }

    @Test
    void shouldReadTheCountersThatItWrites() {
        TenantCalls calls = new TenantCalls(true, 0, List.of(new CallCount("cuMemAlloc_v2", CallKind.ALLOCATION, 11, 12, 13, 14, 15, 16),
                new CallCount("cuInit", CallKind.named("cuInit"), 17, 18, 0, 0, 0, 19)), new Traffic(1, 2, 3, 4, 5, 6));
        String written = text(json -> StatJson.write(json, TENANT, calls));
        TenantCalls read = StatJson.read(tree(written));

        assertThat(read.counts()).isEqualTo(calls.counts());
        assertThat(read.traffic()).isEqualTo(calls.traffic());
        assertThat(read.known()).isTrue();
        assertThat(written).contains("\"allocatedBytes\":16,\"copied\":{\"toGpuBytes\":1,", "\"gpus\":[{\"gpu\":5,\"uuid\":\"GPU-5\",\"usedBytes\":63,",
                "{\"name\":\"cuInit\",\"calls\":17,\"failed\":18,\"timedCalls\":0,\"bytes\":19}");
    }

    @Test
    void shouldReadThatNothingWasCounted() {
        String written = text(json -> StatJson.write(json, TENANT, new TenantCalls(false, 0, List.of(), new Traffic(1, 2, 3, 4, 5, 6))));

        assertThat(StatJson.read(tree(written)).known()).isFalse();
        assertThat(written).doesNotContain("copied", "kernels");
    }

    @Test
    void shouldReadTheAuditThatItWrites() {
        AuditReport report = new AuditReport(true, List.of(new AuditReport.Gpu(5, "GPU-5", 40, List.of("Xid 79"))),
                List.of(new AuditFinding(AuditFinding.OVER, 1, 2, "GPU-5", "python", "train", "c0ffee", 3, 4, Instant.ofEpochSecond(5, 6), AuditFinding.REPORTED)));
        String written = text(json -> AuditJson.write(json, report));

        assertThat(AuditJson.read(tree(written))).isEqualTo(report);
        assertThat(written).isEqualTo("{\"audited\":true,\"findings\":[{\"kind\":\"over\",\"pid\":1,\"uid\":2,\"uuid\":\"GPU-5\",\"command\":\"python\",\"tenant\":\"train\","
                + "\"container\":\"c0ffee\",\"usedBytes\":3,\"ledgerBytes\":4,\"sinceNanos\":5000000006,\"action\":\"reported\"}],"
                + "\"gpus\":[{\"gpu\":5,\"uuid\":\"GPU-5\",\"temperatureCelsius\":40,\"health\":[\"Xid 79\"]}]}");
    }

    @Test
    void shouldSayWhatIsMissing() {
        assertThatThrownBy(() -> TenantJson.read(tree("{\"tenant\":\"train\"}"))).isInstanceOf(SluiceException.class)
                .hasMessage("the agent answered null where a text must be; use the same version of both");
    }
}
