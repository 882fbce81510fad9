package sluice.planner;

import java.util.Random;

/// When a virtual tenant submits its kernels.
interface Work {
    long NEVER = Long.MAX_VALUE;

    /// When it submits its next kernel, now or later. `done` counts the kernels that it has run.
    long nextNanos(long nowNanos, long done);

    /// As many as the GPU takes, from one moment to another.
    static Work between(long fromNanos, long toNanos) {
        return (now, done) -> now >= toNanos ? NEVER : Math.max(now, fromNanos);
    }

    static Work always() {
        return between(0, NEVER);
    }

    /// The host thinks for a while after each kernel.
    default Work withGaps(long gapNanos) {
        return (now, done) -> nextNanos(done == 0 ? now : now + gapNanos, done);
    }

    /// A burst of kernels every period.
    static Work bursts(long periodNanos, int kernels) {
        return (now, done) -> Math.max(now, done / kernels * periodNanos);
    }

    /// Wants the GPU, does not want it, and so on, for times around the given one.
    static Work phases(long seed, long aroundNanos) {
        Random random = new Random(seed);
        return new Work() {
            private long busyFrom = random.nextLong(2 * aroundNanos);
            private long idleFrom = busyFrom + 1 + random.nextLong(2 * aroundNanos);

            @Override
            public long nextNanos(long nowNanos, long done) {
                while (nowNanos >= idleFrom) {
                    busyFrom = idleFrom + 1 + random.nextLong(2 * aroundNanos);
                    idleFrom = busyFrom + 1 + random.nextLong(2 * aroundNanos);
                }
                return Math.max(nowNanos, busyFrom);
            }
        };
    }
}
