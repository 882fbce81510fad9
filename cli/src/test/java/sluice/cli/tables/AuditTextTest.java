package sluice.cli.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.api.model.AuditFinding;
import sluice.api.model.AuditReport;
import sluice.cli.output.Screen;

class AuditTextTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");
    private static final Screen PLAIN = new Screen(false, false);
    private static final AuditReport.Gpu WELL = new AuditReport.Gpu(0, "GPU-a", 50, List.of());
    private static final AuditReport.Gpu ILL = new AuditReport.Gpu(1, "GPU-b", 91, List.of("Xid 79"));
    private static final AuditFinding UNKNOWN = new AuditFinding("unknown", 4711, 0, "GPU-b", "python \u001b[31mtrain.py", "", "3f0a".repeat(16),
            2L << 30, 0, NOW.minusSeconds(50), "terminated");
    private static final AuditFinding OVER = new AuditFinding("over", 4712, 64_009, "GPU-a", "python serve.py", "serve", "",
            3L << 30, 1L << 30, NOW.minusSeconds(5), "reported");

    @Test
    void shouldSayThatAllIsInOrder() {
        AuditReport report = new AuditReport(true, List.of(WELL, WELL), List.of());

        assertThat(AuditText.lines(report, NOW, PLAIN)).containsExactly("Every process on the 2 GPUs is in order.");
        assertThat(AuditText.footer(report)).isEmpty();
    }

    @Test
    void shouldShowFindingsAndGpusThatAreNotWell() {
        AuditReport report = new AuditReport(true, List.of(WELL, ILL), List.of(UNKNOWN, OVER));

        assertThat(AuditText.lines(report, NOW, PLAIN)).containsExactly(
                "FINDING  GPU   PID  USER   CONTAINER     TENANT     USED   LEDGER  SINCE  DONE        COMMAND",
                "unknown    1  4711  root   3f0a3f0a3f0a  -       2.0 GiB        -    50s  terminated  python ?[31mtrain.py",
                "over       0  4712  64009  -             serve   3.0 GiB  1.0 GiB     5s  reported    python serve.py",
                "GPU 1: Xid 79");
        assertThat(AuditText.footer(report)).contains("2 processes use GPUs past Sluice, 1 GPU is not well; 'sluice audit' tells more");
    }
}
