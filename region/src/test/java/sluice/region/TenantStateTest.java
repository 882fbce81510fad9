package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.layout.RegionLayout;
import sluice.region.place.Identity;

class TenantStateTest {
    private static final long PAUSE = 1L << 8 | RegionLayout.COMMAND_PAUSE;
    private static final long EVICT = 2L << 8 | RegionLayout.COMMAND_EVICT;
    private static final long RUN = 3L << 8 | RegionLayout.COMMAND_RUN;

    @TempDir
    private Path folder;

    @Test
    void shouldFollowFromTheCommandAndAllAnswers() {
        assertThat(TenantState.of(false, 0, List.of())).isEqualTo(TenantState.STARTING);
        assertThat(TenantState.of(false, 0, List.of(0L))).isEqualTo(TenantState.RUNNING);
        assertThat(TenantState.of(true, 0, List.of())).as("between two processes").isEqualTo(TenantState.RUNNING);
        assertThat(TenantState.of(true, PAUSE, List.of(PAUSE, 0L))).isEqualTo(TenantState.PAUSING);
        assertThat(TenantState.of(true, PAUSE, List.of(PAUSE, PAUSE))).isEqualTo(TenantState.PAUSED);
        assertThat(TenantState.of(true, EVICT, List.of(EVICT, PAUSE))).isEqualTo(TenantState.PAUSING);
        assertThat(TenantState.of(true, EVICT, List.of(EVICT))).isEqualTo(TenantState.EVICTED);
        assertThat(TenantState.of(true, RUN, List.of(RUN, EVICT))).isEqualTo(TenantState.RESUMING);
        assertThat(TenantState.of(true, RUN, List.of(RUN, 0L))).as("a new process was never paused").isEqualTo(TenantState.RUNNING);
    }

    @Test
    void shouldBeReadFromTheRegion() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        assertThat(Tenant.read(file).state()).isEqualTo(TenantState.STARTING);
        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.RUNNING);
            region.limits().command(PAUSE);
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSING);
            region.slot(ledger.slot()).answer(PAUSE);
            assertThat(Tenant.read(file).state()).isEqualTo(TenantState.PAUSED);
        }
        assertThat(Tenant.read(TestRegion.create(folder, "gone", TestRegion.DEAD)).state()).isEqualTo(TenantState.ENDED);
    }

    @Test
    void shouldKnowItsWords() {
        for (TenantState state : TenantState.values()) {
            assertThat(TenantState.find(state.word())).contains(state);
        }
        assertThat(TenantState.find("drowned")).isEmpty();
    }
}
