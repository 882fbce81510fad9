package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryChange;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

class LimitsChangeTest {
    @TempDir
    private Path folder;

    @Test
    void shouldSetTheQuotaOfEveryGpuAndCountTheChange() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        Tenant after = LimitsChange.ofMemory(MemoryChange.parse("6g")).apply(file);

        assertThat(after.limits()).isEqualTo(MemoryLimits.parse("6g"));
        assertThat(after.limitsEpoch()).isEqualTo(1);
        assertThat(Tenant.read(file).limits()).isEqualTo(MemoryLimits.parse("6g"));
    }

    @Test
    void shouldLeaveGpusThatAreNotNamedAlone() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        Tenant after = LimitsChange.ofMemory(MemoryChange.parse("0=6g,2=none")).apply(file);

        assertThat(after.limits().bytes(0)).isEqualTo(6L << 30);
        assertThat(after.limits().bytes(1)).isEqualTo(1L << 30);
        assertThat(after.limits().bytes(2)).isZero();
    }

    @Test
    void shouldLoseNoChangeOfToolsAtTheSameTime() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        List<Thread> tools = new ArrayList<>();
        for (int tool = 0; tool < 4; tool++) {
            String gpu = tool + "=";
            tools.add(Thread.ofPlatform().start(() -> {
                for (int change = 1; change <= 100; change++) {
                    LimitsChange.ofMemory(MemoryChange.parse(gpu + change + "m")).apply(file);
                    if (Tenant.read(file).limits().bytes(Integer.parseInt(gpu.substring(0, 1))) != (long) change << 20) {
                        return;
                    }
                }
            }));
        }
        for (Thread tool : tools) {
            tool.join();
        }

        for (int gpu = 0; gpu < 4; gpu++) {
            assertThat(Tenant.read(file).limits().bytes(gpu)).as("GPU " + gpu).isEqualTo(100L << 20);
        }
        assertThat(Tenant.read(file).limits().bytes(4)).isEqualTo(1L << 30);
        assertThat(Tenant.read(file).limitsEpoch()).isEqualTo(400);
    }

    @Test
    void shouldTakeTheQuotaAway() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        assertThat(LimitsChange.ofMemory(MemoryChange.parse("none")).apply(file).limits().isEmpty()).isTrue();
    }

    @Test
    void shouldSetWhatAnAllocationOverTheQuotaDoes() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        assertThat(Tenant.read(file).onOom()).isEqualTo(OnOom.FAIL);

        LimitsChange change = LimitsChange.ofOnOom(OnOom.parse("wait:1500ms"));

        assertThat(change.apply(file).onOom()).isEqualTo(new OnOom(1500));
        assertThat(Tenant.read(file).limits()).isEqualTo(MemoryLimits.parse("1g"));
        assertThat(LimitsChange.ofOnOom(OnOom.FAIL).apply(file).onOom()).isEqualTo(OnOom.FAIL);
    }

    @Test
    void shouldNotChangeWhoCameAfter() throws Exception {
        Tenant seen = Tenant.read(TestRegion.create(folder, "job", Identity.self()));
        Files.delete(seen.file());
        TestRegion.create(folder, "job", Identity.self());

        assertThatThrownBy(() -> LimitsChange.ofMemory(MemoryChange.parse("6g")).apply(seen)).hasMessageContaining("another tenant's");
        assertThat(Tenant.read(seen.file()).limitsEpoch()).isZero();
    }

    @Test
    void shouldRefuseAnEndedTenant() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);

        assertThatThrownBy(() -> LimitsChange.ofMemory(MemoryChange.parse("6g")).apply(file)).hasMessageContaining("has ended");
        assertThat(Tenant.read(file).limits()).isEqualTo(MemoryLimits.parse("1g"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "x", "0=", "0=1g,0=2g", "16=1g", "0=1g,2g", "-1", "None"})
    void shouldRefuseNonsense(String text) {
        assertThatThrownBy(() -> MemoryChange.parse(text)).isInstanceOf(SluiceException.class);
    }

    @Test
    void shouldSayWhichGpusAreNamed() {
        assertThat(MemoryChange.parse("3=1g,1=none").named()).containsExactly(1, 3);
        assertThat(MemoryChange.parse("1g").named()).isEmpty();
    }

    @Test
    void shouldReadWaits() {
        assertThat(OnOom.parse("fail")).isEqualTo(OnOom.FAIL);
        assertThat(OnOom.parse("wait")).isEqualTo(new OnOom(60_000)).hasToString("wait up to 60 s");
        assertThat(OnOom.parse("wait:30s")).isEqualTo(new OnOom(30_000));
        assertThat(OnOom.parse("wait:2m")).isEqualTo(new OnOom(120_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Wait", "wait:", "wait:30", "wait:0s", "wait:-1s", "wait:2h", "wait:61m", "wait:99999999s", "fail:3s"})
    void shouldRefuseWaitsThatAreNone(String text) {
        assertThatThrownBy(() -> OnOom.parse(text)).hasMessageContaining("wait:30s");
    }

    @Test
    void shouldKeepWhatTheDraftSaysOfWaiting() throws Exception {
        RegionDraft draft = new RegionDraft("job", "x", Identity.self(), OnError.FAIL, OnOom.WAIT, MemoryLimits.none(),
                ComputeLimits.NONE);

        assertThat(Tenant.read(Region.create(TestRegion.directory(folder), draft)).onOom()).isEqualTo(OnOom.WAIT);
    }
}
