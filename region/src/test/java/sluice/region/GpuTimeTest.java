package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.place.Identity;

class GpuTimeTest {
    private static final long SECOND = 1_000_000_000;

    @TempDir
    private Path folder;

    private static GpuTime time(long readNanos, int cap, long beganNanos, long dueNanos, long usedNanos) {
        return new GpuTime(readNanos, cap, beganNanos, dueNanos, usedNanos, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    @Test
    void shouldSayWhatItGot() {
        GpuTime earlier = time(30 * SECOND, 250, 10 * SECOND, 0, 4 * SECOND);
        GpuTime later = time(32 * SECOND, 250, 10 * SECOND, 0, 5 * SECOND);

        assertThat(earlier.gotPermille()).isEqualTo(200);
        assertThat(later.gotPermilleSince(earlier)).isEqualTo(500);
        assertThat(time(30 * SECOND, 0, 0, 0, 0).gotPermille()).isEqualTo(-1);
        assertThat(later.gotPermilleSince(time(SECOND, 0, 0, 0, 0))).isEqualTo(-1);
    }

    /// A kernel of 2 s under a cap of 10 %: 1.8 s are ahead of the cap when it ends, and 18 s repay them.
    @Test
    void shouldSayTheDebtInGpuTimeAndInWaiting() {
        GpuTime time = time(2 * SECOND, 100, 1, 20 * SECOND, 2 * SECOND);

        assertThat(time.repayNanos()).isEqualTo(18 * SECOND);
        assertThat(time.debtNanos()).isEqualTo(18 * SECOND / 10);
        assertThat(time(30 * SECOND, 100, 1, 20 * SECOND, 0).debtNanos()).isZero();
        assertThat(time(2 * SECOND, 0, 1, 20 * SECOND, 0).debtNanos()).isZero();
    }

    @Test
    void shouldReadTheShareOfItsGpu() throws Exception {
        Path file = TestRegion.create(folder, "job", Identity.self());
        try (Region region = Region.openReadWrite(file)) {
            TestRegion.gpu(region, 1, 5);
            region.limits().computePermille(5, 250);
            region.share(1).usedNanos(42);
            region.share(1).turnWaitedNanos(7);
            region.share(1).capWaitedNanos(3);
        }

        GpuTime time = Tenant.read(file).gpus().getFirst().time();

        assertThat(time.usedNanos()).isEqualTo(42);
        assertThat(time.capPermille()).isEqualTo(250);
        assertThat(time.waitedNanos()).isEqualTo(10);
        assertThat(time.begun()).isFalse();
    }
}
