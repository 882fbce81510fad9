package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
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

    private Tenant apply(LimitsChange change) {
        return change.apply(file);
    }

    private static LimitsChange caps(String text) {
        return LimitsChange.of(Limit.COMPUTE, text);
    }

    /// @param words such as `weight=3 turn=5ms`
    private static LimitsChange turns(String words) {
        return new LimitsChange(GivenLimitsTest.words(words));
    }

    @Test
    void shouldSetCapsAndCountTheChange() {
        Tenant after = apply(caps("25%"));

        assertThat(after.compute().caps()).isEqualTo(ComputeCaps.parse("25%"));
        assertThat(after.compute().turns()).isFalse();
        assertThat(after.limitsEpoch()).isEqualTo(1);
        assertThat(after.memory()).isEqualTo(MemoryLimits.parse("1g"));
    }

    /// A tenant with HAMi's default policy does not, until the limit is set.
    @Test
    void shouldHoldACapThatIsSetAlways() throws Exception {
        try (Region region = Region.openReadWrite(file)) {
            region.limits().capWhenShared(1);
            apply(turns("weight=3"));
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
        assertThat(apply(turns("priority=high")).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 1, Priority.HIGH, false, 0));
        assertThat(apply(turns("weight=3 exclusive=true turn=5ms")).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 3, Priority.HIGH, true, 5000));
        assertThat(apply(turns("priority=normal exclusive=false turn=none")).compute())
                .isEqualTo(new ComputeLimits(ComputeCaps.none(), true, 3, Priority.NORMAL, false, 0));
    }

    @Test
    void shouldTakeNoTurnsForWhatIsTakenBack() {
        assertThat(apply(turns("turn=none")).compute().turns()).isFalse();
        assertThat(apply(turns("exclusive=false")).compute().turns()).isFalse();
    }

    @Test
    void shouldTakeNoTurnsAnyMoreWithoutAWeight() {
        apply(turns("weight=3 exclusive=true"));

        assertThat(apply(turns("weight=none")).compute().turns()).isTrue();
        assertThat(apply(turns("weight=none exclusive=false")).compute()).isEqualTo(ComputeLimits.NONE);
    }

    @Test
    void shouldTakeNoTurnsAnyMoreWhenAllOfThemIsTakenBackAtOnce() {
        apply(turns("weight=3 priority=low turn=5ms exclusive=true"));

        assertThat(apply(turns("weight=none priority=normal turn=none exclusive=false")).compute()).isEqualTo(ComputeLimits.NONE);
    }

    @Test
    void shouldHoldACapStrictlyUntilThatIsTakenBack() {
        assertThat(apply(turns("compute=10% strict=true")).compute()).isEqualTo(new ComputeLimits(ComputeCaps.parse("10%"), false, 1, Priority.NORMAL, false, 0, true));
        assertThat(apply(turns("weight=3 priority=low turn=5ms exclusive=true")).compute().strict()).isTrue();
        assertThat(apply(caps("20%")).compute().strict()).isTrue();
        assertThat(apply(turns("strict=false")).compute().strict()).isFalse();
    }

    @Test
    void shouldRefuseToBeStrictWithoutACap() {
        assertThatThrownBy(() -> apply(turns("strict=true weight=3"))).isInstanceOf(SluiceException.class).hasMessageContaining("--compute 10% --strict");
        assertThat(Tenant.read(file).compute()).isEqualTo(ComputeLimits.NONE);
        assertThatThrownBy(() -> apply(turns("strict=true compute=none"))).isInstanceOf(SluiceException.class);
        assertThat(apply(turns("strict=false")).compute()).isEqualTo(ComputeLimits.NONE);
    }

    /// A cap that is set later would be strict although nobody asked for that.
    @Test
    void shouldForgetThatItIsStrictWithTheCap() {
        apply(turns("compute=10% strict=true"));

        assertThat(apply(caps("none")).compute()).isEqualTo(ComputeLimits.NONE);
        assertThat(apply(caps("10%")).compute().strict()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "x", "0=", "0=1%,0=2%", "16=1%", "0=1%,2%", "-1", "None", "101%"})
    void shouldRefuseNonsense(String text) {
        assertThatThrownBy(() -> caps(text)).isInstanceOf(SluiceException.class);
    }

    @Test
    void shouldSayWhichGpusAreNamed() {
        assertThat(caps("3=1%,1=none").gpus()).containsExactly(1, 3);
        assertThat(caps("1%").gpus()).isEmpty();
    }
}
