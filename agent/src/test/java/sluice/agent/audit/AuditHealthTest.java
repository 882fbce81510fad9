package sluice.agent.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import sluice.cuda.NvmlHealth;
import sluice.cuda.NvmlHealth.Health;
import sluice.cuda.Silence;

class AuditHealthTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Health FINE = new Health(Optional.empty(), 3, 0, false, false, 60, 90, false, false);
    private static final Health ILL = new Health(Optional.empty(), 0, 2, true, false, 91, 90, true, false);
    private static final Health UNTOLD = new Health(Optional.empty(), -1, -1, false, false, -1, -1, false, false);
    private static final Health LOST = new Health(Optional.of(Silence.of(15)), -1, -1, false, false, -1, -1, false, false);

    private final List<String> told = new ArrayList<>();
    private final AuditHealth health = new AuditHealth((gpu, text) -> told.add(gpu + " " + text));

    @Test
    void shouldSayNothingOfAGpuThatIsWellOrDoesNotTell() {
        assertThat(health.words(0, FINE, NOW)).isEmpty();
        assertThat(health.words(0, UNTOLD, NOW)).isEmpty();
        assertThat(told).isEmpty();
    }

    @Test
    void shouldSayWhatIsWrongAndTellOfItOnce() {
        for (int look = 0; look < 3; look++) {
            assertThat(health.words(1, ILL, NOW)).containsExactly("uncorrectable ECC errors since the driver was loaded: 2",
                    "memory rows wait to be replaced; reset the GPU", "slowed down by heat", "hot: 91 °C, slows down at 90");
        }
        assertThat(told).hasSize(3).allMatch(text -> text.startsWith("1 "));
    }

    @Test
    void shouldTellOfAGpuThatIsLostWithItsLastXid() {
        health.see(new NvmlHealth.Xid(0, 79), NOW);

        assertThat(health.words(0, LOST, NOW)).containsExactly("lost: it does not answer the driver; restart the machine", "Xid 79");
        assertThat(told).containsExactly("0 Xid 79", "0 lost: it does not answer the driver; restart the machine");
    }

    @Test
    void shouldKeepXidsForAnHour() {
        health.see(new NvmlHealth.Xid(0, 79), NOW);
        health.see(new NvmlHealth.Xid(0, 31), NOW.plusSeconds(1800));
        assertThat(told).containsExactly("0 Xid 79", "0 Xid 31 (a program's error)");

        assertThat(health.words(0, FINE, NOW.plusSeconds(3000))).containsExactly("Xid 79", "Xid 31 (a program's error)");
        assertThat(health.words(0, FINE, NOW.plusSeconds(4000))).containsExactly("Xid 31 (a program's error)");
        assertThat(health.words(1, FINE, NOW)).isEmpty();
    }
}
