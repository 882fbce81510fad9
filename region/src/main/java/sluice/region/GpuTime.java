package sluice.region;

import sluice.region.layout.ShareView;

/// A tenant's time on one GPU, all its processes together.
///
/// @param readNanos       when this was read, by the clock of the moments below; it is that of `System.nanoTime()`
/// @param capPermille     0 = no cap
/// @param beganNanos      when the tenant first submitted work; 0 = not yet
/// @param dueNanos        when the cap has paid for all charged time
/// @param submittedCalls  calls that put work on the GPU
/// @param unmeteredCalls  such calls whose GPU time could not be charged
/// @param capWaitedNanos  how long calls waited because the cap was used up, all threads together
/// @param turnWaitedNanos how long calls waited for the tenant's turn, all threads together
/// @param roomWaits       how often a call waited because enough of the tenant's work was under way
/// @param memoryWaits     how often an allocation over the quota waited for a sibling to free
public record GpuTime(
        long readNanos,
        int capPermille,
        long beganNanos,
        long dueNanos,
        long usedNanos,
        long submittedCalls,
        long unmeteredCalls,
        long capWaits,
        long capWaitedNanos,
        long turnWaits,
        long turnWaitedNanos,
        long roomWaits,
        long roomWaitedNanos,
        long memoryWaits,
        long memoryWaitedNanos) {

    /// @param striped calls that were counted in stripes
    static GpuTime of(ShareView share, long striped, int capPermille) {
        return new GpuTime(System.nanoTime(), capPermille, share.beganNanos(), share.dueNanos(), share.usedNanos(),
                share.submittedCalls() + striped, share.unmeteredCalls(), share.capWaits(), share.capWaitedNanos(), share.turnWaits(),
                share.turnWaitedNanos(), share.roomWaits(), share.roomWaitedNanos(), share.memoryWaits(), share.memoryWaitedNanos());
    }

    public boolean begun() {
        return beganNanos > 0 && beganNanos < readNanos;
    }

    /// Whether the library measures the time, or did. It measures only tenants with a share of GPU time or a trace.
    public boolean measured() {
        return begun() || usedNanos > 0;
    }

    /// The part of the time since it began that it had the GPU, in thousandths; -1 before it began.
    public int gotPermille() {
        return begun() ? permille(usedNanos, readNanos - beganNanos) : -1;
    }

    /// The part of the time since an earlier look in which the tenant had the GPU, in thousandths. -1 if it had not begun then.
    public int gotPermilleSince(GpuTime earlier) {
        return earlier.begun() && readNanos > earlier.readNanos
                ? permille(usedNanos - earlier.usedNanos, readNanos - earlier.readNanos) : -1;
    }

    private static int permille(long partNanos, long wholeNanos) {
        return (int) Math.round(1000.0 * partNanos / wholeNanos);
    }

    /// How long the tenant waits until the cap has paid for all charged time; 0 without a cap.
    public long repayNanos() {
        return capPermille == 0 ? 0 : Math.max(0, dueNanos - readNanos);
    }

    /// GPU time that it had ahead of its cap.
    public long debtNanos() {
        return (long) (repayNanos() / 1000.0 * capPermille);
    }

    public long waitedNanos() {
        return capWaitedNanos + turnWaitedNanos;
    }
}
