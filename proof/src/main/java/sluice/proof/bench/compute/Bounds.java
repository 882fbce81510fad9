package sluice.proof.bench.compute;

import sluice.proof.stage.Environment;

/// How closely shares must hold. A simulated GPU runs on the processors of the programs that use it. When these are busy, it and the
/// programs are late. So its bounds are wider, and do not apply to a real GPU.
///
/// @param windowPoints     percentage points between cap and share in each second
/// @param runPoints        the same over a whole run
/// @param leastPart        least part of what the cap allows
/// @param ratioError       error of a ratio of shares with equal kernels
/// @param unequalError     the same with kernels of very different length
/// @param leastSum         least part of what one tenant alone gets that several get together
/// @param responseFactor   response time with others against alone
/// @param responseNanos    and so much more
/// @param leastLeft        least part of what a high priority leaves that a low one gets
/// @param handOverNanos    median from tenant to tenant
/// @param lostNanos        a hand-over that takes longer was lost, and another process noticed it later
/// @param leastHandOvers   so many are counted if turns are short
/// @param recoveryNanos    until other tenants go on when a holder was killed
public record Bounds(
        double windowPoints,
        double runPoints,
        double leastPart,
        double ratioError,
        double unequalError,
        double leastSum,
        double responseFactor,
        long responseNanos,
        double leastLeft,
        long handOverNanos,
        long lostNanos,
        int leastHandOvers,
        long recoveryNanos) {

    /// On an H200 changing contexts alone takes 139 µs, which nothing can shorten: 50 µs come on top of it.
    static final Bounds REAL = new Bounds(2, 1, 0.97, 0.03, 0.05, 0.97, 1.15, 1_000_000, 0.90, 190_000, 20_000_000, 100_000, 100_000_000);
    private static final Bounds SIMULATED = new Bounds(6, 4, 0.85, 0.15, 0.25, 0.80, 2, 10_000_000, 0.60, 2_500_000, 500_000_000, 1, 500_000_000);

    public static Bounds of(Environment environment) {
        return environment.simulated() ? SIMULATED : REAL;
    }
}
