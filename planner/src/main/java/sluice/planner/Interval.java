package sluice.planner;

import java.util.Arrays;
import java.util.List;

/// What the tenants of one priority did since the last plan.
///
/// @param elapsedNanos time since the last plan; 0 when nothing is known of it
/// @param takenNanos   what each took of that time
/// @param eager        whether it always wanted more: it had the GPU or waited for it nearly all the time
/// @param wants        whether it is to be planned for now; all are when nobody wants the GPU
/// @param part         of the time that passed, the part that this priority took
record Interval(double elapsedNanos, double[] takenNanos, boolean[] eager, boolean[] wants, double part) {
    private static final double NEARLY_ALL = 0.8;

    static Interval since(Plan last, long nowNanos, double longestNanos, List<TenantDemand> tenants) {
        double elapsed = nowNanos - last.madeNanos();
        boolean known = !last.turns().isEmpty() && elapsed > 0 && elapsed <= longestNanos;
        double[] taken = new double[tenants.size()];
        boolean[] eager = new boolean[tenants.size()];
        boolean[] wants = new boolean[tenants.size()];
        for (int at = 0; at < taken.length; at++) {
            TenantDemand tenant = tenants.get(at);
            Turn before = last.turns().get(tenant.id());
            if (known && before != null) {
                taken[at] = Math.min(elapsed, tenant.takenSince(before.seen()));
                eager[at] = taken[at] + tenant.waitedSince(before.seen()) >= NEARLY_ALL * elapsed;
            }
            wants[at] = tenant.wants() || taken[at] > 0;
        }
        if (tenants.stream().noneMatch(TenantDemand::wants) && Shares.sum(taken) == 0) {
            Arrays.fill(wants, true);
        }
        double part = known ? Math.min(1, Shares.sum(taken) / elapsed) : 0;
        return new Interval(known ? elapsed : 0, taken, eager, wants, part == 0 ? 1 : part);
    }
}
