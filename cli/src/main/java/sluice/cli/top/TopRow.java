package sluice.cli.top;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.cli.output.Text;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantError;
import sluice.region.TenantGpu;

/// A tenant on one of its GPUs, and its activity since an earlier look.
///
/// @param gpu            empty until the tenant has used one
/// @param colour         number of its colour, the same for as long as it runs
/// @param gotPermille    its part of the GPU's time; -1 when it is not measured
/// @param waitPermille   how much of the time its calls waited, all threads together; -1 when it is not measured
/// @param callsPerSecond calls that put work on the GPU; -1 when they are not counted
/// @param trend          `gotPermille` of the last looks, the newest last
record TopRow(
        Tenant tenant,
        Optional<TenantGpu> gpu,
        int colour,
        int gotPermille,
        int waitPermille,
        long callsPerSecond,
        List<Integer> trend) {
    private static final int TREND_LOOKS = 60;
    private static final double NANOS = 1e9;

    static TopRow of(Tenant tenant, Optional<TenantGpu> gpu, int colour, Optional<TopRow> earlier) {
        Optional<GpuTime> before = earlier.flatMap(TopRow::gpu).map(TenantGpu::time);
        Optional<GpuTime> now = gpu.map(TenantGpu::time).filter(GpuTime::begun)
                .filter(time -> before.isEmpty() || tenant.isMeasured(time, before.get()));
        Optional<GpuTime> then = before
                .filter(time -> now.isPresent() && time.begun() && time.readNanos() < now.get().readNanos());
        int got = now.map(time -> then.map(time::gotPermilleSince).orElse(time.gotPermille())).orElse(-1);
        long spanNanos = now.map(time -> time.readNanos() - then.map(GpuTime::readNanos).orElse(time.beganNanos())).orElse(1L);
        long waited = now.map(time -> time.waitedNanos() - then.map(GpuTime::waitedNanos).orElse(0L)).orElse(0L);
        long calls = now.map(time -> time.submittedCalls() - then.map(GpuTime::submittedCalls).orElse(0L)).orElse(0L);
        return new TopRow(tenant, gpu, colour, Math.max(got, -1),
                now.isEmpty() ? -1 : Math.clamp(Math.round(1000.0 * waited / spanNanos), 0, Integer.MAX_VALUE),
                now.isEmpty() ? -1 : Math.max(0, Math.round(calls * NANOS / spanNanos)),
                trend(earlier, Math.max(got, -1)));
    }

    private static List<Integer> trend(Optional<TopRow> earlier, int got) {
        List<Integer> trend = new ArrayList<>(earlier.map(TopRow::trend).orElse(List.of()));
        trend.add(got);
        return List.copyOf(trend.subList(Math.max(0, trend.size() - TREND_LOOKS), trend.size()));
    }

    /// A key that stays the same from look to look.
    String key() {
        return tenant.createdNanos() + "/" + tenant.name() + "/" + gpu.map(TenantGpu::entry).orElse(-1);
    }

    String name() {
        return Text.visible(tenant.name());
    }

    boolean isOn(String uuid) {
        return gpu.isPresent() && gpu.get().uuid().equals(uuid);
    }

    long usedBytes() {
        return gpu.map(TenantGpu::usedBytes).orElse(0L);
    }

    /// The quota; 0 for none.
    long limitBytes() {
        return gpu.map(TenantGpu::limitBytes).orElseGet(() -> tenant.memory().bytes(0));
    }

    long refusedCalls() {
        return gpu.map(TenantGpu::refusedCalls).orElse(0L);
    }

    /// The number of refusals and errors, on all GPUs.
    long errors() {
        return tenant.errors().stream().mapToLong(TenantError::count).sum();
    }
}
