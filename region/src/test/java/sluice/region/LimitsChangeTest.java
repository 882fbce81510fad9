package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.Limits;
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

        Tenant after = LimitsChange.of(Limit.MEMORY, "6g").apply(file);

        assertThat(after.memory()).isEqualTo(MemoryLimits.parse("6g"));
        assertThat(after.limitsEpoch()).isEqualTo(1);
        assertThat(Tenant.read(file).memory()).isEqualTo(MemoryLimits.parse("6g"));
    }

    @Test
    void shouldLeaveGpusThatAreNotNamedAlone() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        Tenant after = LimitsChange.of(Limit.MEMORY, "0=6g,2=none").apply(file);

        assertThat(after.memory().bytes(0)).isEqualTo(6L << 30);
        assertThat(after.memory().bytes(1)).isEqualTo(1L << 30);
        assertThat(after.memory().bytes(2)).isZero();
    }

    @Test
    void shouldLoseNoChangeOfToolsAtTheSameTime() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        List<Thread> tools = new ArrayList<>();
        for (int tool = 0; tool < 4; tool++) {
            String gpu = tool + "=";
            tools.add(Thread.ofPlatform().start(() -> {
                for (int change = 1; change <= 100; change++) {
                    LimitsChange.of(Limit.MEMORY, gpu + change + "m").apply(file);
                    if (Tenant.read(file).memory().bytes(Integer.parseInt(gpu.substring(0, 1))) != (long) change << 20) {
                        return;
                    }
                }
            }));
        }
        for (Thread tool : tools) {
            tool.join();
        }

        for (int gpu = 0; gpu < 4; gpu++) {
            assertThat(Tenant.read(file).memory().bytes(gpu)).as("GPU " + gpu).isEqualTo(100L << 20);
        }
        assertThat(Tenant.read(file).memory().bytes(4)).isEqualTo(1L << 30);
        assertThat(Tenant.read(file).limitsEpoch()).isEqualTo(400);
    }

    @Test
    void shouldTakeTheQuotaAway() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());

        assertThat(LimitsChange.of(Limit.MEMORY, "none").apply(file).memory().isEmpty()).isTrue();
    }

    @Test
    void shouldSetWhatAnAllocationOverTheQuotaDoes() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        assertThat(Tenant.read(file).limits().onOom()).isEqualTo(OnOom.FAIL);

        LimitsChange change = LimitsChange.of(Limit.ON_OOM, "wait:1500ms");

        assertThat(change.apply(file).limits().onOom()).isEqualTo(new OnOom(1500));
        assertThat(Tenant.read(file).memory()).isEqualTo(MemoryLimits.parse("1g"));
        assertThat(LimitsChange.of(Limit.ON_OOM, "fail").apply(file).limits().onOom()).isEqualTo(OnOom.FAIL);
    }

    @Test
    void shouldNotChangeALaterTenant() throws Exception {
        Tenant seen = Tenant.read(TestRegion.create(folder, "job", Identity.self()));
        Files.delete(seen.file());
        TestRegion.create(folder, "job", Identity.self());

        assertThatThrownBy(() -> LimitsChange.of(Limit.MEMORY, "6g").apply(seen)).hasMessageContaining("another tenant's");
        assertThat(Tenant.read(seen.file()).limitsEpoch()).isZero();
    }

    @Test
    void shouldRefuseAnEndedTenant() throws Exception {
        Path file = TestRegion.create(folder, "job", TestRegion.DEAD);

        assertThatThrownBy(() -> LimitsChange.of(Limit.MEMORY, "6g").apply(file)).hasMessageContaining("has ended");
        assertThat(Tenant.read(file).memory()).isEqualTo(MemoryLimits.parse("1g"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "x", "0=", "0=1g,0=2g", "16=1g", "0=1g,2g", "-1", "None"})
    void shouldRefuseNonsense(String text) {
        assertThatThrownBy(() -> LimitsChange.of(Limit.MEMORY, text)).isInstanceOf(SluiceException.class);
    }

    @Test
    void shouldSayWhichGpusAreNamed() {
        assertThat(LimitsChange.of(Limit.MEMORY, "3=1g,1=none").gpus()).containsExactly(1, 3);
        assertThat(LimitsChange.of(Limit.MEMORY, "1g").gpus()).isEmpty();
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
        RegionDraft draft = new RegionDraft("job", "x", Identity.self(), new Limits(MemoryLimits.none(), ComputeLimits.NONE, OnOom.WAIT, OnError.FAIL));

        assertThat(Tenant.read(Region.create(TestRegion.directory(folder), draft)).limits().onOom()).isEqualTo(OnOom.WAIT);
    }
}
