package sluice.planner;

/// A tenant of the simulation, with what the libraries keep of it in its region and on the board.
final class VirtualTenant {
    private static final long WINDOW_NANOS = 10_000_000;
    private static final long KEPT_NANOS = 15_000_000;
    private static final long LONGEST_KEPT_NANOS = 100_000_000;
    private static final long LONGEST_TURN_NANOS = 1_000_000_000;

    final int id;
    int weight = 1;
    int priority;
    boolean exclusive;
    int capPermille;
    long turnNanos = TenantDemand.DEFAULT_TURN_NANOS;
    long kernelNanos = 1_000_000;
    Work work = Work.always();

    long planNanos;
    long balanceNanos;
    long usedNanos;
    long heldNanos;
    long turns;
    long waitedNanos;
    long done;
    /// When it submits its next kernel.
    long readyNanos;
    /// When the cap lets it through.
    long openNanos;
    private long dueNanos;
    /// Longest time from the wish to run a kernel to its start, since this was last set to 0.
    long longestWaitNanos;

    VirtualTenant(int id) {
        this.id = id;
    }

    VirtualTenant weight(int weight) {
        this.weight = weight;
        return this;
    }

    VirtualTenant kernel(long nanos) {
        kernelNanos = nanos;
        return this;
    }

    VirtualTenant work(Work work) {
        this.work = work;
        return this;
    }

    VirtualTenant cap(int permille) {
        capPermille = permille;
        return this;
    }

    VirtualTenant priority(int priority) {
        this.priority = priority;
        return this;
    }

    VirtualTenant turn(long nanos) {
        turnNanos = nanos;
        return this;
    }

    VirtualTenant exclusive() {
        exclusive = true;
        return this;
    }

    /// From when on it waits for its turn.
    long wantsFromNanos() {
        return Math.max(readyNanos, openNanos);
    }

    long lengthNanos() {
        return Math.min(planNanos == 0 ? turnNanos * weight : planNanos, LONGEST_TURN_NANOS);
    }

    /// Runs one kernel. The cap's rule is that of `native/src/compute/cap.c`: closed from when more is charged than it has paid for,
    /// until it is a window behind again; unused time is kept for 15 ms of GPU time, and no longer than 100 ms.
    void run(long fromNanos) {
        longestWaitNanos = Math.max(longestWaitNanos, fromNanos - wantsFromNanos());
        long ended = fromNanos + kernelNanos;
        usedNanos += kernelNanos;
        done++;
        if (capPermille > 0) {
            long kept = Math.min(KEPT_NANOS * 1000 / capPermille, LONGEST_KEPT_NANOS);
            dueNanos = Math.max(dueNanos, fromNanos - kept) + kernelNanos * 1000 / capPermille;
            openNanos = dueNanos > ended ? dueNanos + WINDOW_NANOS : ended;
        }
        readyNanos = work.nextNanos(ended, done);
    }

    TenantDemand state(boolean holds, long turnBeganNanos, long nowNanos) {
        boolean waits = !holds && wantsFromNanos() <= nowNanos;
        return new TenantDemand(id, weight, priority, exclusive, capPermille, turnNanos, wantsFromNanos() <= nowNanos,
                heldNanos + (holds ? nowNanos - turnBeganNanos : 0), turns, waitedNanos + (waits ? nowNanos - wantsFromNanos() : 0));
    }
}
