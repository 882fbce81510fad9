package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.LimitsChange;
import sluice.region.Region;
import sluice.region.Tenant;
import sluice.region.TestRegion;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

class ComputeChangeTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void create() throws Exception {
        file = TestRegion.create(folder, "job", Identity.self());
    }

    private Tenant apply(ComputeChange change) {
        return LimitsChange.ofCompute(change).apply(file);
    }

    private static ComputeChange caps(String text) {
        return new ComputeChange(Optional.of(CapsChange.parse(text)), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    private static ComputeChange turns(Integer weight, Priority priority, Boolean exclusive, Integer turnMicros) {
        return new ComputeChange(Optional.empty(), Optional.ofNullable(weight), Optional.ofNullable(priority),
                Optional.ofNullable(exclusive), Optional.ofNullable(turnMicros));
    }

    @Test
    void shouldSetCapsAndCountTheChange() {
        Tenant after = apply(caps("25%"));

        assertThat(after.compute().caps()).isEqualTo(ComputeCaps.parse("25%"));
        assertThat(after.compute().turns()).isFalse();
        assertThat(after.limitsEpoch()).isEqualTo(1);
        assertThat(after.limits()).isEqualTo(MemoryLimits.parse("1g"));
    }

    /// One of HAMi's default policy does not, until somebody sets it.
    @Test
    void shouldHoldACapThatIsSetAlways() throws Exception {
        try (Region region = Region.openReadWrite(file)) {
            region.limits().capWhenShared(1);
            apply(turns(3, null, null, null));
            assertThat(region.limits().capWhenShared()).isOne();
            apply(caps("25%"));
            assertThat(region.limits().capWhenShared()).isZero();
        }
    }

    @Test
    void shouldLeaveGpusThatAreNotNamedAlone() {
        apply(caps("25%"));

        assertThat(apply(caps("0=50%,2=none")).compute().caps().permille(0)).isEqualTo(500);
        assertThat(Tenant.read(file).compute().caps().permille(1)).isEqualTo(250);
        assertThat(Tenant.read(file).compute().caps().permille(2)).isZero();
    }

    @Test
    void shouldTakeCapsBack() {
        apply(caps("25%"));

        assertThat(apply(caps("none")).compute()).isEqualTo(ComputeLimits.NONE);
    }

    @Test
    void shouldTakeTurnsFromTheFirstWordAboutThemOn() {
        assertThat(apply(turns(null, Priority.HIGH, null, null)).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 1, Priority.HIGH, false, 0));
        assertThat(apply(turns(3, null, true, 5000)).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 3, Priority.HIGH, true, 5000));
        assertThat(apply(turns(null, Priority.NORMAL, false, 0)).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 3, Priority.NORMAL, false, 0));
    }

    @Test
    void shouldTakeNoTurnsForWhatIsTakenBack() {
        assertThat(apply(turns(null, null, null, 0)).compute().turns()).isFalse();
        assertThat(apply(turns(null, null, false, null)).compute().turns()).isFalse();
    }

    @Test
    void shouldTakeNoTurnsAnyMoreWithoutAWeight() {
        apply(turns(3, null, true, null));

        assertThat(apply(turns(0, null, null, null)).compute().turns()).isTrue();
        assertThat(apply(turns(0, null, false, null)).compute()).isEqualTo(ComputeLimits.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "x", "0=", "0=1%,0=2%", "16=1%", "0=1%,2%", "-1", "None", "101%"})
    void shouldRefuseNonsense(String text) {
        assertThatThrownBy(() -> CapsChange.parse(text)).isInstanceOf(SluiceException.class);
    }

    @Test
    void shouldSayWhichGpusAreNamed() {
        assertThat(CapsChange.parse("3=1%,1=none").named()).containsExactly(1, 3);
        assertThat(CapsChange.parse("1%").named()).isEmpty();
    }
}
