package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.layout.LimitsView;
import sluice.region.limits.Limits;
import sluice.region.place.Identity;

class TraceRequestTest {
    @TempDir
    private Path folder;

    @Test
    void shouldBeginAndEndATrace() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        long epoch = Tenant.read(file).limitsEpoch();

        long first = TraceRequest.ring(Path.of("/tmp/x/../y"), 1024, 77).begin(file);

        try (Region region = Region.openReadOnly(file)) {
            LimitsView limits = region.limits();
            assertThat(limits.trace()).isEqualTo(1);
            assertThat(limits.traceDirectory()).isEqualTo("/tmp/y");
            assertThat(limits.traceEvents()).isEqualTo(1024);
            assertThat(limits.traceUntilNanos()).isEqualTo(77);
            assertThat(limits.traceGeneration()).isEqualTo(first);
            assertThat(limits.epoch()).isGreaterThan(epoch);
        }
        long second = TraceRequest.spool(Path.of("/tmp/z")).begin(file);
        assertThatThrownBy(() -> TraceRequest.spool(Path.of("/tmp")).begin(file))
                .hasMessage("tenant 'job' is being traced already, to /tmp/z");
        TraceRequest.end(file, first);
        try (Region region = Region.openReadOnly(file)) {
            assertThat(region.limits().trace()).isEqualTo(2);
            TraceRequest.end(file, second);
            assertThat(region.limits().trace()).isZero();
        }
    }

    @Test
    void shouldTraceFromTheStart() throws Exception {
        RegionDraft draft = new RegionDraft("job", "x", Identity.self(), Limits.NONE,
                TraceRequest.spool(Path.of("/tmp/t")));

        try (Region region = Region.openReadOnly(Region.create(TestRegion.directory(folder), draft))) {
            assertThat(region.limits().trace()).isEqualTo(2);
            assertThat(region.limits().traceDirectory()).isEqualTo("/tmp/t");
            assertThat(region.limits().traceGeneration()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseWhatCannotBeTraced() throws Exception {
        Path ended = TestRegion.create(folder, "job", TestRegion.DEAD);

        assertThatThrownBy(() -> TraceRequest.spool(Path.of("/tmp")).begin(ended)).hasMessageContaining("has ended");
        assertThatThrownBy(() -> TraceRequest.spool(Path.of("/" + "x".repeat(400)))).hasMessageContaining("too long");
    }
}
