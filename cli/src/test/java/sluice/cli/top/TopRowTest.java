package sluice.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import sluice.api.model.EarlierLook;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Priority;

class TopRowTest {
    private static final ComputeLimits CAPPED = new ComputeLimits(ComputeCaps.of(500), false, 1, Priority.NORMAL, false, 0);

    @Test
    void shouldShowNothingOfATenantThatIsNoLongerMeasured() {
        Tenant before = tenant(CAPPED, 9, 4), after = tenant(ComputeLimits.NONE, 10, 4);

        assertThat(row(before, after).gotPermille()).isEqualTo(-1);
        assertThat(EarlierLook.at(List.of(before)).gotPermille(after, after.gpus().getFirst())).isEqualTo(-1);
    }

    @Test
    void shouldSayThatAnIdleTenantWithAShareGotNothing() {
        Tenant before = tenant(CAPPED, 9, 4), after = tenant(CAPPED, 10, 4);

        assertThat(row(before, after).gotPermille()).isZero();
        assertThat(EarlierLook.at(List.of(before)).gotPermille(after, after.gpus().getFirst())).isZero();
    }

    @Test
    void shouldSayWhatATracedTenantWithoutAShareGot() {
        assertThat(row(tenant(ComputeLimits.NONE, 9, 4.0), tenant(ComputeLimits.NONE, 10, 4.3)).gotPermille()).isEqualTo(300);
    }

    private static TopRow row(Tenant before, Tenant after) {
        TopRow earlier = TopRow.of(before, Optional.of(before.gpus().getFirst()), 0, Optional.empty());
        return TopRow.of(after, Optional.of(after.gpus().getFirst()), 0, Optional.of(earlier));
    }

    private static Tenant tenant(ComputeLimits compute, int second, double usedSeconds) {
        GpuTime time = new GpuTime(second * 1_000_000_000L, 0, 1, 0, (long) (usedSeconds * 1e9), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        return TopMachine.tenant("job", 1, TopMachine.GIB, 0, compute, time, List.of());
    }
}
