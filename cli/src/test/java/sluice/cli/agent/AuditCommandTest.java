package sluice.cli.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;

class AuditCommandTest {
    /// Scripts go by the status.
    @ParameterizedTest
    @CsvSource({"unknown, 0", "over, 1073741824"})
    void shouldFailOnAFindingOfEitherKind(String kind, long ledgerBytes) {
        var finding = new AuditFinding(kind, 4711, 0, "GPU-a", "python", "", "", 3L << 30, ledgerBytes, Instant.EPOCH, AuditFinding.REPORTED);

        assertThat(AuditCommand.status(new AuditReport(true, List.of(), List.of(finding)))).isEqualTo(1);
        assertThat(AuditCommand.status(new AuditReport(true, List.of(), List.of()))).isZero();
    }
}
